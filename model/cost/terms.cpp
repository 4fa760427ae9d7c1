// What a unit of each kind of work is assumed to take, and the sum over the kinds.
#include "model/cost/terms.h"

namespace headrace::cost {

void add(Terms &terms, const Terms &others) {
  for (const auto &[name, units] : others) {
    terms[name] += units;
  }
}

const std::map<std::string, double> &assumedSeconds() {
  static const std::map<std::string, double> table = {
      // Kernels of rows.
      {"row", 0.032e-9},
      {"decode", 0.061e-9},
      {"decode_code", 0.079e-9},
      {"decode_gathered", 0.38e-9},
      {"decode_byte", 0.007e-9},
      {"decode_string", 0.68e-9},
      {"decode_text", 3.3e-9},
      {"decode_picked", 0.32e-9},
      {"decode_picked_code", 0.95e-9},
      {"skip", 0.043e-9},
      {"text_far_line", 8.6e-9},
      {"text_memory_line", 15e-9},
      {"mapped", 0.32e-9},
      {"take", 0.05e-9},
      {"take_string", 1e-9},
      {"select", 0.068e-9},
      {"vector_byte", 0.0042e-9},
      {"scalar", 0.14e-9},
      {"wide", 0.7e-9},
      {"divide", 4e-9},
      {"compare_string", 2.3e-9},
      {"match_string", 6e-9},
      {"search_byte", 0.28e-9},
      {"text", 15e-9},
      {"text_byte", 0.3e-9},
      {"hash", 1.2e-9},
      {"hash_string", 5e-9},
      {"hash_byte", 0.098e-9},
      {"probe", 1.5e-9},
      {"match", 2e-9},
      {"fold", 0.17e-9},
      {"fold_group", 0.55e-9},
      {"fold_real", 0.5e-9},
      {"group", 2e-9},
      {"group_new", 21e-9},
      {"group_new_near", 10e-9},
      {"insert", 0.54e-9},
      {"insert_byte", 0.01e-9},
      {"prune", 6.5e-9},
      {"emit", 0.38e-9},
      {"emit_byte", 0.13e-9},
      {"emit_string", 5.7e-9},
      {"keep_string", 10e-9},
      {"copy_byte", 0.15e-9},
      {"partition", 3.8e-9},
      {"read_row", 0.78e-9},
      // Of an order, where it is behind a core's own cache, and a text that it points to.
      {"read_far_row", 6e-9},
      {"read_far_text", 10e-9},
      {"morsel", 800e-9},
      {"load_byte", 0.002e-9},
      {"load_far_byte", 0.078e-9},
      {"load_memory_byte", 0.12e-9},
      {"load", 2.2e-6},
      {"order_skip", 3.6e-9},
      {"order_byte", 0.04e-9},
      {"exchange_far_byte", 0.053e-9},
      {"probe_direct", 0.55e-9},
      {"match_direct", 1.4e-9},
      {"date_part", 8.4e-9},
      {"element_across", 0.4e-9},
      {"chain", 0.6e-9},
      {"insert_far_byte", 0.01e-9},
      {"take_far_byte", 0.028e-9},
      {"clear_far_byte", 0.038e-9},
      {"rank_row", 8e-9},
      {"build_far_byte", 0.01e-9},
      // Touching a line at random that was fetched ahead, by working set.
      {"line_32k", 0.057e-9},
      {"line_512k", 1.2e-9},
      {"line_4m", 1.3e-9},
      {"line_32m", 6.5e-9},
      {"line_256m", 24e-9},
      // Touching one that was not.
      {"far_line_1m", 4.7e-9},
      {"far_line_32m", 5e-9},
      {"far_line_256m", 5e-9},
      // Ends of states.
      {"finish", 2e-6},
      {"clear_byte", 0.022e-9},
      {"build_row", 3.2e-9},
      {"build_near", 2e-9},
      {"build_line", 12e-9},
      {"merge_row", 4.2e-9},
      {"merge_far_row", 12e-9},
      {"merge_new", 13e-9},
      {"merge_string", 2.6e-9},
      {"list_row", 0.33e-9},
      {"sort_row", 30e-9},
      {"sort_word", 20e-9},
      {"sort_text_word", 40e-9},
      {"window_row", 32e-9},
      // Exchanges and results.
      {"exchange", 2.9e-6},
      {"exchange_chunk", 2.5e-6},
      {"exchange_value", 0.05e-9},
      {"exchange_byte", 0.11e-9},
      {"range_row", 2e-9},
      {"range_value", 1.5e-9},
      {"range_text", 8e-9},
      // Tensors.
      {"compute", 4.7e-6},
      {"product_f32", 0.018e-9},
      {"product_f64", 0.036e-9},
      {"product_byte", 0.027e-9},
      {"product_pack", 0.031e-9},
      {"element", 0.016e-9},
      {"element_op", 0.022e-9},
      {"element_math", 0.14e-9},
      {"tensor_byte", 0.014e-9},
      {"tensor_load_byte", 0.072e-9},
      {"collective", 6.4e-6},
      {"collective_step", 5e-6},
      {"collective_byte", 0.11e-9},
      {"reduce_byte", 0.18e-9},
      {"collective_copy", 0.047e-9},
      // A run: its beginning and end, and each task's.
      {"run", 200e-6},
      {"task", 37e-6},
      {"hop", 83e-6},
  };
  return table;
}

double secondsOf(const topology::DeviceType &device, const Terms &terms) {
  double seconds = 0;
  for (const auto &[name, units] : terms) {
    auto known = device.workSeconds.find(name);
    if (known != device.workSeconds.end()) {
      seconds += units * known->second;
    } else if (auto assumed = assumedSeconds().find(name); assumed != assumedSeconds().end()) {
      seconds += units * assumed->second;
    }
  }
  return seconds;
}

} // namespace headrace::cost
