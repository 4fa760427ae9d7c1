// The places where AWS's tools look, in their order. Nothing of what is found goes into a message.
#include "runtime/storage/files/credentials.h"

#include "runtime/storage/files/xml_text.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

namespace headrace::storage {
namespace {

using Found = std::optional<Credentials>;

/// Of who gives credentials: near, or not there.
constexpr long kSeconds = 2;
constexpr int kAttempts = 2;
/// New ones are asked for when the old ones have less time than this.
constexpr std::chrono::minutes kRenewed{5};

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::string trimmed(const std::string &text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Expected<std::string> contentOf(const std::string &path) {
  std::ifstream file(path);
  if (!file) {
    return makeError(ErrorKind::kIo, "cannot read the token for AWS: ", path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  return trimmed(text.str());
}

std::string homeFile(const char *variable, const char *name) {
  const std::string given = environment(variable);
  return given.empty() ? environment("HOME") + "/.aws/" + name : given;
}

std::string profileName() {
  const std::string given = environment("AWS_PROFILE");
  return given.empty() ? "default" : given;
}

/// The values of a section of an INI file; nothing if there is none.
std::optional<std::map<std::string, std::string>> sectionOf(const std::string &path,
                                                            const std::string &section) {
  std::ifstream file(path);
  std::optional<std::map<std::string, std::string>> values;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    line = trimmed(line);
    if (line.starts_with('[')) {
      const std::string name = trimmed(line.substr(1, line.find(']') - 1));
      inside = name == section || name == "profile " + section;
      if (inside && !values) {
        values.emplace();
      }
    } else if (const size_t equals = line.find('=');
               inside && equals != std::string::npos && !line.starts_with('#')) {
      (*values)[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
    }
  }
  return values;
}

/// What is no moment does not expire.
std::chrono::system_clock::time_point momentOf(const std::string &text) {
  const int64_t seconds = secondsOfMoment(text);
  return seconds == 0 ? std::chrono::system_clock::time_point::max()
                      : std::chrono::system_clock::from_time_t(seconds);
}

HttpRequest requestOf(std::string url, const char *who) {
  HttpRequest request;
  request.url = std::move(url);
  request.shown = who;
  request.attempts = kAttempts;
  request.seconds = kSeconds;
  return request;
}

Expected<Credentials> ofDocument(const HttpAnswer &answer, const char *who) {
  const nlohmann::json found = nlohmann::json::parse(answer.body, nullptr, false);
  auto field = [&](const char *name) { return found.value(name, std::string()); };
  if (answer.status != 200 || !found.is_object() || field("AccessKeyId").empty()) {
    return makeError(ErrorKind::kIo, who, " gives no credentials, it answers ", answer.status);
  }
  return Credentials{field("AccessKeyId"), field("SecretAccessKey"), field("Token"),
                     momentOf(field("Expiration"))};
}

Expected<Found> ofVariables() {
  const std::string id = environment("AWS_ACCESS_KEY_ID");
  const std::string secret = environment("AWS_SECRET_ACCESS_KEY");
  return id.empty() || secret.empty()
             ? Found()
             : Found(Credentials{id, secret, environment("AWS_SESSION_TOKEN")});
}

Expected<Found> ofWebIdentity() {
  const std::string file = environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  const std::string role = environment("AWS_ROLE_ARN");
  if (file.empty() || role.empty()) {
    return Found();
  }
  HR_ASSIGN_OR_RETURN(std::string token, contentOf(file));
  const std::string session = environment("AWS_ROLE_SESSION_NAME");
  std::string endpoint = environment("AWS_ENDPOINT_URL_STS");
  if (endpoint.empty()) {
    endpoint = "https://sts." + regionOfEnvironment() + ".amazonaws.com";
  }
  HttpRequest request = requestOf(endpoint + "/", "AWS's service of tokens");
  request.method = "POST";
  request.seconds = 0;
  request.headers = {"Content-Type: application/x-www-form-urlencoded"};
  request.body = canonicalQuery({{"Action", "AssumeRoleWithWebIdentity"},
                                 {"Version", "2011-06-15"},
                                 {"RoleArn", role},
                                 {"RoleSessionName", session.empty() ? "headrace" : session},
                                 {"WebIdentityToken", token}});
  HR_ASSIGN_OR_RETURN(HttpAnswer answer, askHttp(std::move(request)));
  const std::string id = xmlText(answer.body, "AccessKeyId");
  if (answer.status != 200 || id.empty()) {
    return makeError(ErrorKind::kIo, "AWS's service of tokens gives no credentials, it answers ",
                     answer.status, " ", xmlText(answer.body, "Code"));
  }
  return Found(Credentials{id, xmlText(answer.body, "SecretAccessKey"),
                           xmlText(answer.body, "SessionToken"),
                           momentOf(xmlText(answer.body, "Expiration"))});
}

Expected<Found> ofProfile() {
  const std::string name = profileName();
  for (const std::string &file : {homeFile("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
                                  homeFile("AWS_CONFIG_FILE", "config")}) {
    auto values = sectionOf(file, name);
    if (values && !(*values)["aws_access_key_id"].empty()) {
      return Found(Credentials{(*values)["aws_access_key_id"], (*values)["aws_secret_access_key"],
                               (*values)["aws_session_token"]});
    }
  }
  if (!environment("AWS_PROFILE").empty()) {
    return makeError(ErrorKind::kUser,
                     "the profile of AWS_PROFILE has no access key (`aws configure "
                     "export-credentials --format env` gives those of other profiles): ",
                     name);
  }
  return Found();
}

Expected<Found> ofContainer() {
  constexpr const char *kWho = "the container's service of credentials";
  std::string url = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (const std::string path = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
      !path.empty()) {
    url = "http://169.254.170.2" + path;
  }
  if (url.empty()) {
    return Found();
  }
  HttpRequest request = requestOf(url, kWho);
  std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
      !file.empty()) {
    HR_ASSIGN_OR_RETURN(token, contentOf(file));
  }
  if (!token.empty()) {
    request.headers.push_back("Authorization: " + token);
  }
  HR_ASSIGN_OR_RETURN(HttpAnswer answer, askHttp(std::move(request)));
  HR_ASSIGN_OR_RETURN(Credentials found, ofDocument(answer, kWho));
  return Found(std::move(found));
}

/// Nobody may be there: then there are none.
Expected<Found> ofInstance() {
  constexpr const char *kWho = "the instance's service of credentials";
  if (environment("AWS_EC2_METADATA_DISABLED") == "true") {
    return Found();
  }
  std::string endpoint = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (endpoint.empty()) {
    endpoint = "http://169.254.169.254";
  }
  while (endpoint.ends_with('/')) {
    endpoint.pop_back();
  }
  HttpRequest request = requestOf(endpoint + "/latest/api/token", kWho);
  request.method = "PUT";
  request.attempts = 1;
  request.seconds = 1;
  request.headers = {"X-aws-ec2-metadata-token-ttl-seconds: 300"};
  Expected<HttpAnswer> token = askHttp(std::move(request));
  if (!token.ok() || token->status != 200) {
    return Found();
  }
  const std::string roles = endpoint + "/latest/meta-data/iam/security-credentials/";
  auto ask = [&](const std::string &url) {
    HttpRequest next = requestOf(url, kWho);
    next.headers = {"X-aws-ec2-metadata-token: " + trimmed(token->body)};
    return askHttp(std::move(next));
  };
  HR_ASSIGN_OR_RETURN(HttpAnswer role, ask(roles));
  if (role.status == 404 || trimmed(role.body).empty()) {
    return Found(); // an instance without a role
  }
  HR_ASSIGN_OR_RETURN(HttpAnswer answer, ask(roles + trimmed(role.body)));
  HR_ASSIGN_OR_RETURN(Credentials found, ofDocument(answer, kWho));
  return Found(std::move(found));
}

} // namespace

Expected<std::shared_ptr<const Credentials>> credentialsOfEnvironment() {
  // Variables may change from call to call; what others give is kept.
  HR_ASSIGN_OR_RETURN(Found variables, ofVariables());
  if (variables) {
    return std::make_shared<const Credentials>(std::move(*variables));
  }
  static std::mutex mutex;
  static std::shared_ptr<const Credentials> kept;
  static bool isKept = false;
  static std::string keptFor;
  std::string asked;
  for (const char *name :
       {"AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "HOME",
        "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_EC2_METADATA_DISABLED",
        "AWS_EC2_METADATA_SERVICE_ENDPOINT"}) {
    asked += environment(name) + '\n';
  }
  std::lock_guard lock(mutex);
  if (isKept && keptFor == asked &&
      (!kept || kept->expires - kRenewed > std::chrono::system_clock::now())) {
    return kept;
  }
  Found found;
  for (auto look : {&ofWebIdentity, &ofProfile, &ofContainer, &ofInstance}) {
    HR_ASSIGN_OR_RETURN(found, look());
    if (found) {
      break;
    }
  }
  kept = found ? std::make_shared<const Credentials>(std::move(*found)) : nullptr;
  isKept = true;
  keptFor = asked;
  return kept;
}

std::string regionOfEnvironment() {
  for (const char *name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (const std::string region = environment(name); !region.empty()) {
      return region;
    }
  }
  auto values = sectionOf(homeFile("AWS_CONFIG_FILE", "config"), profileName());
  if (values && !(*values)["region"].empty()) {
    return (*values)["region"];
  }
  return "us-east-1";
}

} // namespace headrace::storage
