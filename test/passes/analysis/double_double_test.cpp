// Sums of two doubles in generated code are those that the interpreter computes.
#include "passes/analysis/double_double.h"

#include "test/passes/folding.h"

#include <bit>
#include <random>

namespace headrace::analysis {
namespace {

using mlir::Value;

class GeneratedDoubleDouble : public Folding {
protected:
  Generating on{builder, location()};
  double realOf(mlir::TypedAttr constant) {
    return mlir::cast<mlir::FloatAttr>(constant).getValueAsDouble();
  }
};

TEST_F(GeneratedDoubleDouble, TheHigherPartIsInTheHigherBits) {
  const Value bits = on.pack({real(1.5), real(-0x1p-60)});
  const DoubleDouble<Value> parts = on.unpack(bits);
  const auto found = folded({bits, parts.high, parts.low});
  const llvm::APInt word = mlir::cast<mlir::IntegerAttr>(found[0]).getValue();
  EXPECT_EQ(word.lshr(64).trunc(64).getZExtValue(), std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(word.trunc(64).getZExtValue(), std::bit_cast<uint64_t>(-0x1p-60));
  EXPECT_EQ(realOf(found[1]), 1.5);
  EXPECT_EQ(realOf(found[2]), -0x1p-60);
}

TEST_F(GeneratedDoubleDouble, SumsAndDeviationsAsComputed) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> number(-1e6, 1e6);
  llvm::SmallVector<Value> generated;
  std::vector<double> computed;
  for (int round = 0; round < 50; ++round) {
    DoubleDouble<double> x{number(random), 0}, y{number(random), 0}, products{number(random), 0};
    x.low = x.high * 0x1p-60;
    y.low = y.high * -0x1p-58;
    auto inCode = [&](const DoubleDouble<double> &of) {
      return DoubleDouble<Value>{real(of.high), real(of.low)};
    };
    const auto sum = sumOf(Computing(), x, y);
    const auto sumInCode = sumOf(on, inCode(x), inCode(y));
    const auto deviations = deviationsOf(Computing(), x, y, products, 1000.0);
    const auto deviationsInCode =
        deviationsOf(on, inCode(x), inCode(y), inCode(products), real(1000));
    computed.insert(computed.end(), {sum.high, sum.low, deviations.scaled, deviations.least});
    generated.append(
        {sumInCode.high, sumInCode.low, deviationsInCode.scaled, deviationsInCode.least});
  }
  for (auto [index, constant] : llvm::enumerate(folded(generated))) {
    ASSERT_EQ(realOf(constant), computed[index]) << index;
  }
}

TEST_F(GeneratedDoubleDouble, EqualValuesDeviateByNoMoreThanRounding) {
  // A million times 0.1: the sums are those of 106 bits.
  const double count = 1e6, each = 0.1;
  auto times = productOf(Computing(), each, count);
  auto squared = productOf(Computing(), each, each);
  auto products = productOf(Computing(), squared.high, count);
  products.low += squared.low * count;
  const auto none = deviationsOf(Computing(), times, times, products, count);
  EXPECT_LE(std::abs(none.scaled), std::abs(none.least) * 0x1p4);
  // Two values that differ: count · comoment = 2 · (1² + 3²) − 4² = 4.
  const auto some = deviationsOf(Computing(), DoubleDouble<double>{4, 0}, {4, 0}, {10, 0}, 2.0);
  EXPECT_EQ(some.scaled, 4);
}

} // namespace
} // namespace headrace::analysis
