# Writes a .cpp that holds a file's text: `extern const char* const NAME` in namespace precbench::embedded.
# Needs -D NAME, INPUT, OUTPUT. An INPUT that is not there becomes an empty text.
set(text "")
if(EXISTS "${INPUT}")
  file(READ "${INPUT}" text)
endif()
file(WRITE "${OUTPUT}" "namespace precbench::embedded {
extern const char* const ${NAME};
const char* const ${NAME} = R\"EMBEDDED_TEXT(${text})EMBEDDED_TEXT\";
}  // namespace precbench::embedded
")
