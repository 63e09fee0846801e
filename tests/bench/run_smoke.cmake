# cmake -DPROGRAMS=FOLDER -P run_smoke.cmake: runs the smallest case of each benchmark once and checks that it gave a
# figure. (Google Benchmark's programs exit with 0 where a benchmark failed, or where none has the name.)
function(smoke program)
  foreach(benchmark IN LISTS ARGN)
    set(filter "^${benchmark}(/|$)")
    execute_process(
      COMMAND ${PROGRAMS}/${program} "--benchmark_filter=${filter}" --benchmark_min_time=0.001
              --benchmark_format=csv
      OUTPUT_VARIABLE table ERROR_VARIABLE said RESULT_VARIABLE status)
    if(NOT status EQUAL 0 OR NOT table MATCHES "\n\"${benchmark}[^\n]*,[0-9]" OR table MATCHES ",true,")
      message(SEND_ERROR "${program} --benchmark_filter=${filter} (exit ${status}):\n${table}\n${said}")
    endif()
  endforeach()
endfunction()

smoke(simulator_bench exact_transfers/smoke plain_simgrid/smoke exact_to_plain/smoke folded/smoke)
smoke(reading_bench read_machine/8 plan_call/simple/8 apply_set/8)
smoke(sweep_bench sweep/2)
smoke(events_bench events/simple/1048576 events_with_shares/ll/1048576)
smoke(ring_order_bench unlike/8 two_switches/8)
