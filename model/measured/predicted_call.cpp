#include "model/measured/predicted_call.hpp"

#include "model/measured/measured_settings.hpp"

namespace lanecast {
namespace {

constexpr StatedMembers kAllStated{true, true, true, true, true, true, true};

}  // namespace

PredictedCall predicted_call(const Prediction& prediction, int ranks, const std::string& implementation) {
  PredictedCall predicted;
  predicted.call = prediction.call;
  predicted.call.algorithm = prediction.algorithm;
  predicted.call.protocol = prediction.protocol;
  predicted.call.channels = prediction.channels;
  predicted.call.threads = prediction.threads;
  predicted.call.chunk = prediction.chunk;
  predicted.call.buffsize = prediction.buffsize;
  predicted.stated = kAllStated;
  predicted.asked = prediction.call;
  predicted.transport = prediction.transport;
  predicted.ranks = ranks;
  predicted.time = prediction.time;
  predicted.time_low = prediction.time_low;
  predicted.time_high = prediction.time_high;
  predicted.implementation = implementation;
  return predicted;
}

PredictedCall as_predicted(const MeasuredCall& measured) {
  PredictedCall predicted;
  predicted.call = measured.call;
  predicted.call.channels = set_channels(measured);  // NCCL's variables tell calls apart as well
  predicted.call.threads = set_threads(measured);
  predicted.call.buffsize = set_buffsize(measured);
  predicted.stated = measured.stated;
  if (measured.call.transport) predicted.transport = to_string(*measured.call.transport);
  predicted.ranks = measured.ranks;
  predicted.time = measured.time;
  predicted.implementation = measured.implementation;
  predicted.first_of_sweep = measured.first_of_sweep;
  predicted.where = measured.where;
  return predicted;
}

MeasuredCall as_measured(const PredictedCall& predicted) {
  MeasuredCall measured;
  measured.call = predicted.call;
  measured.call.transport.reset();
  if (predicted.transport == to_string(Transport::p2p)) measured.call.transport = Transport::p2p;
  if (predicted.transport == to_string(Transport::shm)) measured.call.transport = Transport::shm;
  measured.stated = predicted.stated;
  measured.ranks = predicted.ranks;
  measured.time = predicted.time;
  measured.implementation = predicted.implementation;
  measured.first_of_sweep = predicted.first_of_sweep;
  measured.where = predicted.where;
  return measured;
}

}  // namespace lanecast
