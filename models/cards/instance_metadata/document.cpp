// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trn::metadata {

namespace {

/// Some of EC2's versions; all have the same content here.
constexpr std::array<std::string_view, 6> versions{"1.0",        "2009-04-04", "2016-09-02",
                                                   "2018-09-24", "2021-03-23", "latest"};

std::string object_of(const document& keys) {
    std::string text = "{";
    for (const auto& [key, value] : keys)
        text += fmt::format("{}\n  \"{}\" : {}", text.size() == 1 ? "" : ",", key, value);
    return text + "\n}";
}

std::string in_quotes(std::string_view text) {
    return fmt::format("\"{}\"", text);
}

constexpr std::string_view account = "000000000000";

std::string identity_of(const instance& about, std::string_view image) {
    constexpr std::string_view null_keys[] = {"billingProducts", "devpayProductCodes", "kernelId",
                                              "marketplaceProductCodes", "ramdiskId"};
    document keys{{"accountId", std::string(account)},
                  {"architecture", "x86_64"},
                  {"availabilityZone", about.zone},
                  {"imageId", std::string(image)},
                  {"instanceId", about.id},
                  {"instanceType", about.type},
                  {"pendingTime", "2025-01-01T00:00:00Z"},
                  {"privateIp", about.address},
                  {"region", about.region},
                  {"version", "2017-09-30"}};
    for (auto& [key, value] : keys) value = in_quotes(value);
    for (const auto key : null_keys) keys.emplace(key, "null");
    return object_of(keys);
}

/// Credentials without any access rights. All values are invented.
document role_of(const instance& about) {
    document credentials{{"AccessKeyId", "ASIA0000000000000000"},
                         {"Code", "Success"},
                         {"Expiration", "2099-01-01T00:00:00Z"},
                         {"LastUpdated", "2025-01-01T00:00:00Z"},
                         {"SecretAccessKey", std::string(40, '0')},
                         {"Token", "trnvp"},
                         {"Type", "AWS-HMAC"}};
    document info{{"Code", "Success"},
                  {"InstanceProfileArn",
                   fmt::format("arn:aws:iam::{}:instance-profile/{}", account, about.role)},
                  {"InstanceProfileId", "AIPA0000000000000000"},
                  {"LastUpdated", "2025-01-01T00:00:00Z"}};
    for (auto* const keys : {&credentials, &info})
        for (auto& [key, value] : *keys) value = in_quotes(value);
    return {{"meta-data/iam/info", object_of(info)},
            {"meta-data/iam/security-credentials/" + about.role, object_of(credentials)}};
}

/// Metadata of the network interface, in a folder named by its MAC address. Ids are invented.
document interface_of(const instance& about, const std::string& host) {
    const std::string number = about.id.substr(about.id.find('-') + 1);
    document keys{{"device-number", "0"},
                  {"interface-id", "eni-" + number},
                  {"local-hostname", host},
                  {"local-ipv4s", about.address},
                  {"mac", about.mac},
                  {"network-card", "0"},
                  {"owner-id", std::string(account)},
                  {"security-group-ids", "sg-" + std::string(17, '0')},
                  {"security-groups", "default"},
                  {"subnet-id", "subnet-" + std::string(17, '0')},
                  {"subnet-ipv4-cidr-block", about.subnet},
                  {"vpc-id", "vpc-" + std::string(17, '0')},
                  {"vpc-ipv4-cidr-block", about.vpc},
                  {"vpc-ipv4-cidr-blocks", about.vpc}};
    document all;
    for (auto& [key, value] : keys)
        all.emplace(fmt::format("meta-data/network/interfaces/macs/{}/{}", about.mac, key), value);
    return all;
}

/// Returns the value at `path`, or a list of the entries of that folder.
std::optional<std::string> find_below(const document& values, std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    if (const auto leaf = values.find(path); leaf != values.end()) return leaf->second;
    const std::string folder = path.empty() ? "" : std::string(path) + "/";
    std::string list;
    std::string_view last;
    for (auto place = values.lower_bound(folder);
         place != values.end() && place->first.starts_with(folder); ++place) {
        const auto rest = std::string_view(place->first).substr(folder.size());
        const auto name = rest.substr(0, rest.find('/') + 1);  // empty for a leaf: npos + 1 is 0
        const auto entry = name.empty() ? rest : name;
        if (entry == last) continue;
        if (!list.empty()) list += '\n';
        list += entry;
        last = entry;
    }
    return list.empty() ? std::nullopt : std::optional(list);
}

}  // namespace

std::string address_text(std::uint32_t address) {
    return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 0xff, address >> 8 & 0xff,
                       address & 0xff);
}

std::string domain_of(std::string_view region) {
    return region == "us-east-1" ? "ec2.internal" : fmt::format("{}.compute.internal", region);
}

std::string host_label_of(std::string address) {
    std::ranges::replace(address, '.', '-');
    return "ip-" + address;
}

std::string instance_id_of(std::uint64_t serial) {
    return fmt::format("i-{:017x}", serial);
}

document document_of(const instance& about) {
    const std::string image = "ami-00000000000000001",
                      host = host_label_of(about.address) + "." + domain_of(about.region);
    document all{{"meta-data/ami-id", image},
                 {"meta-data/ami-launch-index", "0"},
                 {"meta-data/ami-manifest-path", "(unknown)"},
                 {"meta-data/block-device-mapping/ami", "/dev/xvda"},
                 {"meta-data/block-device-mapping/root", "/dev/xvda"},
                 {"meta-data/events/maintenance/history", "[]"},
                 {"meta-data/events/maintenance/scheduled", "[]"},
                 {"meta-data/hibernation/configured", "false"},
                 {"meta-data/hostname", host},
                 {"meta-data/instance-action", "none"},
                 {"meta-data/instance-id", about.id},
                 {"meta-data/instance-life-cycle", "on-demand"},
                 {"meta-data/instance-type", about.type},
                 {"meta-data/local-hostname", host},
                 {"meta-data/local-ipv4", about.address},
                 {"meta-data/mac", about.mac},
                 {"meta-data/placement/availability-zone", about.zone},
                 {"meta-data/placement/region", about.region},
                 {"meta-data/profile", "default-hvm"},
                 {"meta-data/reservation-id", "r-" + std::string(17, '0')},
                 {"meta-data/security-groups", "default"},
                 {"meta-data/services/domain", "amazonaws.com"},
                 {"meta-data/services/partition", "aws"},
                 {"meta-data/system", "nitro"},
                 {"dynamic/instance-identity/document", identity_of(about, image)}};
    all.merge(interface_of(about, host));
    if (!about.user_data.empty()) all.emplace("user-data", about.user_data);
    if (!about.role.empty()) all.merge(role_of(about));
    return all;
}

std::optional<std::string> find(const document& values, std::string_view path) {
    while (path.starts_with('/')) path.remove_prefix(1);
    if (path.empty()) return fmt::format("{}", fmt::join(versions, "\n"));
    const auto version = path.substr(0, path.find('/'));
    if (std::ranges::find(versions, version) == versions.end()) return std::nullopt;
    path.remove_prefix(std::min(path.size(), version.size() + 1));
    return find_below(values, path);
}

}  // namespace trn::metadata
