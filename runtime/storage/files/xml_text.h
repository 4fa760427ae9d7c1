// The answers of S3 and STS: the text of elements by name, which is all that is asked of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace::storage {

/// What stands between <name> and </name>, of all elements of that name, in their order; as it is
/// written.
std::vector<std::string_view> xmlElements(std::string_view document, std::string_view name);
/// The text of the first, its entities resolved; empty: there is none.
std::string xmlText(std::string_view document, std::string_view name);

} // namespace headrace::storage
