// How far two texts are from each other, in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

/// Levenshtein's: the fewest bytes to be put in, taken out or changed.
int64_t editDistance(std::string_view text, std::string_view other);

/// That of Damerau and Levenshtein, where to swap two bytes side by side is one change too; a
/// swapped pair may have other bytes put in between.
int64_t editDistanceWithSwaps(std::string_view text, std::string_view other);

/// How many bytes differ; nothing for texts of different lengths, or empty ones.
std::optional<int64_t> hammingDistance(std::string_view text, std::string_view other);

/// From 0 to 1: of the different bytes of both how many both have; nothing of an empty text.
std::optional<double> jaccardSimilarity(std::string_view text, std::string_view other);

/// From 0 to 1: Jaro's, of the bytes that both have at places that are not far from each other, and
/// of how many of these stand in another order; 0 of an empty text.
double jaroSimilarity(std::string_view text, std::string_view other);

/// Likewise, nearer to 1 with each of up to four first bytes in common, if it is above 0.7.
double jaroWinklerSimilarity(std::string_view text, std::string_view other);

} // namespace headrace
