// Children: order, errors, aborts, and the simulator's own complaints.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "model/error.hpp"
#include "sim/predict.hpp"
#include "sim/run_isolated.hpp"
#include "tests/support/machine_builders.hpp"
#include "tests/support/simulated.hpp"

namespace lanecast::support {
namespace {

TEST(RunIsolated, GivesAnswersInOrderWhateverChildEndsFirst) {
  const auto answers =
      run_isolated(20, 4, [](std::size_t i) { return std::string(i * 5000, 'x') + std::to_string(i); });
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i], std::string(i * 5000, 'x') + std::to_string(i));
  }
}

TEST(RunIsolated, CarriesAnErrorWithItsKind) {
  try {
    run_isolated(8, 2, [](std::size_t i) -> std::string {
      if (i >= 3) throw Error(ErrorKind::usage, "link `x` is odd", "here", "mend it");
      return "fine";
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("link `x` is odd"), std::string::npos);
  }
}

TEST(RunIsolated, TurnsAnAbortIntoAnErrorWithTheLastWords) {
  try {
    run_isolated(1, 1, [](std::size_t) -> std::string {
      std::fputs("the library did not like it\n", stderr);
      std::fflush(stderr);
      std::abort();
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime);
    EXPECT_NE(std::string(error.what()).find("the library did not like it"), std::string::npos);
  }
}

TEST(RunIsolated, TurnsAKillIntoAnError) {
  EXPECT_THROW(run_isolated(2, 2,
                            [](std::size_t i) -> std::string {
                              if (i == 1) ::raise(SIGKILL);
                              return "fine";
                            }),
               Error);
}

TEST(RunIsolated, LeavesNoChildBehindWhenItIsKilledItself) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t runner = ::fork();
  ASSERT_GE(runner, 0);
  if (runner == 0) {
    ::close(ends[0]);
    run_isolated(1, 1, [&](std::size_t) -> std::string {
      const pid_t self = ::getpid();
      if (::write(ends[1], &self, sizeof self) != sizeof self) ::_exit(1);
      while (true) ::pause();
    });
    ::_exit(0);
  }
  pid_t child = 0;
  ::close(ends[1]);
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ::kill(runner, SIGKILL);
  // the child holds the pipe's other end: it closes when the child is gone
  EXPECT_EQ(::read(ends[0], &child, sizeof child), 0);
  ::close(ends[0]);
  ::waitpid(runner, nullptr, 0);
}

TEST(RunIsolated, KeepsWhatChildrenPrintOffTheResult) {
  const auto answers = run_isolated(1, 1, [](std::size_t) {
    std::puts("chatter");
    return std::string("answer");
  });
  EXPECT_EQ(answers.front(), "answer");
}

TEST(Predict, NamesTheSizeThatCannotBe) {
  Call good = ring_call(Bytes(1024));
  Call bad = ring_call(Bytes(1023));
  try {
    predict_all(one_switch(2), {good, bad});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("1023"), std::string::npos);
  }
}

TEST(Predict, RefusesAnExactRunOfHoursAndSaysHowToMendIt) {
  Call call = ring_call(Bytes(std::uint64_t{1} << 42), Protocol::ll);
  call.chunk = Bytes(1024);
  SimulationOptions exact;
  exact.exact = true;
  try {
    predict(one_switch(2), Profile(), Implementation{}, {call}, exact);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("leave --exact out"), std::string::npos);
  }
}

TEST(Predict, AnswersForMachinesOfTwoTo1024Gpus) {
  for (const int gpus : {2, 16, 100, 1024}) {
    const Prediction p =
        predict_one(one_switch(gpus), ring_call(Bytes(static_cast<std::uint64_t>(gpus) * 65536)));
    EXPECT_GT(p.time.value(), 0) << gpus;
    EXPECT_LE(p.busbw().value(), p.limit_busbw->value()) << gpus;
  }
}

}  // namespace
}  // namespace lanecast::support
