#pragma once
#include <string>
#include <string_view>

#include "configs/dumps/facts.hpp"

namespace lanecast {

/// Each takes what it understands of a text and leaves the rest: pastes hold prompts, prose and several dumps
/// one after another. `file` is how statements name their place: "file:LINE (LnkSta)".
///
/// A text that only partly makes sense (cut off, a capability that needs root) adds what there is, and a note
/// about the rest. None throws for what a text says; line-wise readers take any bytes.
/// @return  how many items (devices, rows, GPUs, ...) it took; 0: the text holds nothing of this kind
int read_lspci_tree(std::string_view text, const std::string& file, MachineFacts& facts);
int read_lspci_verbose(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nvidia_smi_topo(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nvidia_smi_p2p(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nvidia_smi_query(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nvidia_smi_csv(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nvidia_smi_table(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nccl_log_facts(std::string_view text, const std::string& file, MachineFacts& facts);
int read_collected(std::string_view text, const std::string& file, MachineFacts& facts);

/// The same from XML. @throws Error  kind usage: not well-formed, with file:line:column; or not of this kind
int read_nvidia_smi_xml(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nccl_topology(std::string_view text, const std::string& file, MachineFacts& facts);
int read_nccl_graph(std::string_view text, const std::string& file, MachineFacts& facts);
int read_hwloc_xml(std::string_view text, const std::string& file, MachineFacts& facts);

}  // namespace lanecast
