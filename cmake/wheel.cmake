# The wheel of what scripts/package has installed into PRECBENCH_STAGE: the tree goes into the Python package
# (wheel.install-dir of pyproject.toml), shell completion and manual page below the environment's share/.
install(DIRECTORY "${PRECBENCH_STAGE}/bin" "${PRECBENCH_STAGE}/libexec" DESTINATION . USE_SOURCE_PERMISSIONS)
install(DIRECTORY "${PRECBENCH_STAGE}/share/precbench" DESTINATION share)
install(DIRECTORY "${PRECBENCH_STAGE}/share/" DESTINATION "${SKBUILD_DATA_DIR}/share"
        REGEX "/share/precbench$" EXCLUDE)
