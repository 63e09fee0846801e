#include <gtest/gtest.h>

#include <string>

#include "configs/dumps/readers.hpp"
#include "model/error.hpp"
#include "tests/configs/refusal.hpp"

namespace lanecast {
namespace {

using namespace literals;

MachineFacts facts_of(const std::string& text) {
  MachineFacts facts;
  read_nvidia_smi_xml(text, "box.xml", facts);
  return facts;
}

template <class T>
T only(const Statements<T>& statements) {
  EXPECT_EQ(statements.all().size(), 1U);
  return statements.empty() ? T{} : statements.all()[0].value;
}

const std::string head =
    "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n"
    "\t<timestamp>Mon Mar  4 10:20:30 2024</timestamp>\n\t<driver_version>550.54.14</driver_version>\n"
    "\t<attached_gpus>2</attached_gpus>\n";

std::string gpu_of(const std::string& address) {
  return "\t<gpu id=\"" + address +
         "\">\n\t\t<product_name>Example Accelerator 900</product_name>\n\t\t<uuid>GPU-1</uuid>\n"
         "\t\t<minor_number>5</minor_number>\n\t\t<gpu_virtualization_mode>\n"
         "\t\t\t<virtualization_mode>Pass-Through</virtualization_mode>\n\t\t</"
         "gpu_virtualization_mode>\n\t\t<pci>\n"
         "\t\t\t<pci_device_id>20B010DE</pci_device_id>\n\t\t\t<pci_bus_id>" +
         address +
         "</pci_bus_id>\n\t\t\t<pci_gpu_link_info>\n\t\t\t\t<pcie_gen>\n\t\t\t\t\t<max_link_gen>4</"
         "max_link_gen>\n"
         "\t\t\t\t\t<current_link_gen>1</current_link_gen>\n"
         "\t\t\t\t\t<device_current_link_gen>1</device_current_link_gen>\n"
         "\t\t\t\t\t<max_device_link_gen>5</max_device_link_gen>\n\t\t\t\t\t<max_host_link_gen>4</"
         "max_host_link_gen>\n"
         "\t\t\t\t</pcie_gen>\n\t\t\t\t<link_widths>\n\t\t\t\t\t<max_link_width>16x</max_link_width>\n"
         "\t\t\t\t\t<current_link_width>8x</current_link_width>\n\t\t\t\t</link_widths>\n\t\t\t</"
         "pci_gpu_link_info>\n"
         "\t\t\t<replay_counter>410</replay_counter>\n\t\t</pci>\n\t\t<performance_state>P8</"
         "performance_state>\n"
         "\t\t<fb_memory_usage>\n\t\t\t<total>81559 MiB</total>\n\t\t\t<used>1 "
         "MiB</used>\n\t\t</fb_memory_usage>\n"
         "\t\t<bar1_memory_usage>\n\t\t\t<total>131072 MiB</total>\n\t\t</bar1_memory_usage>\n"
         "\t\t<cc_protected_memory_usage>\n\t\t\t<total>0 MiB</total>\n\t\t</cc_protected_memory_usage>\n"
         "\t\t<processes>\n\t\t\t<process_info>\n\t\t\t\t<process_name>/usr/bin/secret</process_name>\n"
         "\t\t\t</process_info>\n\t\t</processes>\n\t</gpu>\n";
}

const std::string log_of_two =
    head + gpu_of("00000000:3B:00.0") + gpu_of("00000000:D8:00.0") + "</nvidia_smi_log>\n";

TEST(NvidiaSmiXml, ReadsTheMachineAndEachGpu) {
  const MachineFacts facts = facts_of(log_of_two);
  EXPECT_EQ(only(facts.driver), "550.54.14");
  EXPECT_EQ(only(facts.taken), "2024-03-04T10:20:30");
  EXPECT_TRUE(only(facts.virtualized));
  ASSERT_EQ(facts.devices.size(), 2U);
  const PciFacts& gpu = facts.devices.at("0000:3b:00.0");
  EXPECT_EQ(only(gpu.gpu_index), 0);
  EXPECT_EQ(only(gpu.gpu_model), "Example Accelerator 900");
  EXPECT_EQ(only(gpu.vendor), 0x10deU);
  EXPECT_EQ(only(gpu.device), 0x20b0U);
  EXPECT_EQ(only(gpu.rate), PcieRate::gen1);
  EXPECT_EQ(only(gpu.link_max_rate), PcieRate::gen4);
  EXPECT_EQ(only(gpu.max_rate), PcieRate::gen5);
  EXPECT_EQ(only(gpu.host_max_rate), PcieRate::gen4);
  EXPECT_EQ(only(gpu.width), 8);
  EXPECT_EQ(only(gpu.link_max_width), 16);
  EXPECT_EQ(only(gpu.replays), 410U);
  EXPECT_TRUE(only(gpu.asleep));
  EXPECT_EQ(only(gpu.memory), 81559_MiB);
  EXPECT_EQ(only(gpu.bar1), 131072_MiB);
  EXPECT_EQ(only(facts.devices.at("0000:d8:00.0").gpu_index), 1);
  EXPECT_EQ(gpu.gpu_model.all()[0].from, "box.xml:8 (product_name)");
  EXPECT_EQ(gpu.rate.all()[0].from, "box.xml:20 (current_link_gen)");
}

TEST(NvidiaSmiXml, NumbersGpusOnlyWhereAllAreShown) {
  const MachineFacts facts = facts_of(head + gpu_of("00000000:3B:00.0") + "</nvidia_smi_log>");
  EXPECT_TRUE(facts.devices.at("0000:3b:00.0").gpu_index.empty()) << "2 are attached";
}

TEST(NvidiaSmiXml, TakesTheBusIdWhereAGpuHasNoId) {
  std::string text = log_of_two;
  for (std::size_t at = text.find(" id=\""); at != std::string::npos; at = text.find(" id=\"")) {
    text.erase(at, text.find('>', at) - at);
  }
  EXPECT_EQ(facts_of(text).devices.size(), 2U);
}

TEST(NvidiaSmiXml, LeavesOutAGpuWithoutAnAddressAndSaysSo) {
  const MachineFacts facts = facts_of("<nvidia_smi_log><attached_gpus>2</attached_gpus>\n<gpu/>\n" +
                                      gpu_of("0000:3B:00.0") + "</nvidia_smi_log>");
  EXPECT_EQ(facts.devices.size(), 1U);
  EXPECT_TRUE(facts.devices.at("0000:3b:00.0").gpu_index.empty());
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("box.xml:2: a <gpu> without a PCI address"), std::string::npos);
}

TEST(NvidiaSmiXml, TakesWhatStandsBeforeAFaultAndNotesIt) {
  const MachineFacts facts = facts_of(log_of_two.substr(0, log_of_two.find("<fb_memory_usage>")));
  EXPECT_EQ(only(facts.devices.at("0000:3b:00.0").width), 8);
  EXPECT_TRUE(facts.devices.at("0000:3b:00.0").memory.empty());
  ASSERT_EQ(facts.notes.size(), 1U);
  EXPECT_NE(facts.notes[0].find("it ends before its last element is closed"), std::string::npos);
  EXPECT_EQ(facts.notes[0].find("box.xml:33:"), 0U) << facts.notes[0];
}

TEST(NvidiaSmiXml, RefusesXmlWithoutAGpuWithItsPlace) {
  EXPECT_EQ(
      refusal([] { facts_of("<?xml version=\"1.0\"?>\n<system version=\"1\"/>"); }),
      "not the log of `nvidia-smi -q -x` (<nvidia_smi_log> with a <gpu>): the outermost element is <system>\n"
      "  at box.xml:2\n  mend: check which command wrote it");
  EXPECT_EQ(refusal([] { facts_of("<nvidia_smi_log>\n  <gpu id=>"); }),
            "not well-formed XML, and nothing of the log of `nvidia-smi -q -x` (<nvidia_smi_log> with a "
            "<gpu>) stands "
            "before the fault\n  at box.xml:2:11\n"
            "  mend: paste the whole output of the command, or name the file that it wrote");
  EXPECT_THROW(facts_of(""), Error);
  EXPECT_THROW(facts_of("no XML"), Error);
}

TEST(NvidiaSmiXml, NeverStatesAFalseValueWhereTheTextIsCut) {
  for (std::size_t length = 0; length < log_of_two.size(); ++length) {
    SCOPED_TRACE(length);
    MachineFacts facts;
    try {
      read_nvidia_smi_xml(log_of_two.substr(0, length), "box.xml", facts);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("at box.xml:"), std::string::npos);
      continue;
    }
    for (const auto& [address, gpu] : facts.devices) {
      EXPECT_TRUE(address == "0000:3b:00.0" || address == "0000:d8:00.0") << address;
      for (const auto& each : gpu.gpu_model.all()) EXPECT_EQ(each.value, "Example Accelerator 900");
      for (const auto& each : gpu.replays.all()) EXPECT_EQ(each.value, 410U);
      for (const auto& each : gpu.width.all()) EXPECT_EQ(each.value, 8);
      for (const auto& each : gpu.memory.all()) EXPECT_EQ(each.value, 81559_MiB);
    }
    for (const auto& each : facts.driver.all()) EXPECT_EQ(each.value, "550.54.14");
  }
}

}  // namespace
}  // namespace lanecast
