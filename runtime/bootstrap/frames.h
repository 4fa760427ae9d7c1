// Frames of the store: lengths before texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace headrace {

/// The length in four bytes, then the text.
std::string packFrame(const std::string &text);
/// The text of the frame that the bytes begin with; nothing if it is not whole.
std::optional<std::string_view> frameAt(std::string_view bytes);
/// The same, which goes from `incoming`.
std::optional<std::string> takeFrame(std::string &incoming);

std::string packAnswer(const std::vector<std::string> &records);
std::string packAnswer(const Status &failure);
/// Of an answer's frame.
Expected<std::vector<std::string>> unpackAnswer(std::string answer);

} // namespace headrace
