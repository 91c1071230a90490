// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace trn::metadata {

/// Properties of an instance in the document.
struct instance {
    std::string type;  ///< "trn2.48xlarge"
    std::string id;
    std::string region = "us-east-1", zone = "us-east-1a";
    std::string mac;          ///< of the interface that sends the request, "02:00:..."
    std::string address;      ///< of the same interface, IPv4
    std::string subnet, vpc;  ///< ranges of addresses, "172.31.0.0/20"
    std::string user_data = {};
    std::string role = {};  ///< role whose credentials the instance gets; empty: none
};

/// An IPv4 address as "172.31.0.4".
std::string address_text(std::uint32_t address);

/// Domain of host names in a region, and the first label of the host name for an IPv4 address.
std::string domain_of(std::string_view region);
std::string host_label_of(std::string address);

/// Makes an instance id of 17 digits from a card's serial number.
std::string instance_id_of(std::uint64_t serial);

/// Categories of instance metadata by their paths below a version: "meta-data/ami-id".
using document = std::map<std::string, std::string, std::less<>>;
document document_of(const instance& about);

/// Value at a path of the service ("/latest/meta-data/ami-id"), or the entries of a folder, one per
/// line; nothing if the path does not exist.
std::optional<std::string> find(const document& values, std::string_view path);

}  // namespace trn::metadata
