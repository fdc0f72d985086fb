# The HTML report is one offline page: its style, its script and Chart.js are part of the binary. Without
# the Debian package libjs-chart.js (or PRECBENCH_CHART_JS) pages come without charts, and say so.
find_file(PRECBENCH_CHART_JS NAMES chart.min.js Chart.min.js
          PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist
          DOC "Chart.js 3, minified, for the charts of HTML reports" NO_DEFAULT_PATH)
if(NOT PRECBENCH_CHART_JS)
  message(STATUS "Chart.js not found (package libjs-chart.js): HTML reports come without charts")
endif()

function(precbench_embed target name input)
  set(output "${CMAKE_BINARY_DIR}/generated/embedded_${name}.cpp")
  set(depends "${CMAKE_SOURCE_DIR}/cmake/embed.cmake")
  if(EXISTS "${input}")
    list(APPEND depends "${input}")
  endif()
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -D "NAME=${name}" -D "INPUT=${input}" -D "OUTPUT=${output}"
            -P "${CMAKE_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS ${depends} COMMENT "Embedding ${name}" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

precbench_embed(precbench_bench chart_js "${PRECBENCH_CHART_JS}")
precbench_embed(precbench_bench page_css "${CMAKE_SOURCE_DIR}/lib/bench/report/html/page.css")
precbench_embed(precbench_bench page_js "${CMAKE_SOURCE_DIR}/lib/bench/report/html/page.js")
