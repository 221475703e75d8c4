# Read by ctest before it starts a test: variables of the user's under which a check would vanish, or
# would be another one. Each is dropped for all tests; a test that needs one sets it.
foreach(name
    # Criterion: other tests, or failures that count as passes.
    CRITERION_ALWAYS_SUCCEED CRITERION_DISABLE_TIME_MEASUREMENTS CRITERION_ENABLE_TAP CRITERION_ENCODING
    CRITERION_FAIL_FAST CRITERION_FILTER CRITERION_JOBS CRITERION_OUTPUTS CRITERION_SHORT_FILENAME CRITERION_TEST_PATTERN
    CRITERION_USE_ASCII CRITERION_VERBOSITY_LEVEL
    # Python: PYTHONOPTIMIZE leaves asserts out.
    PYTHONHOME PYTHONINSPECT PYTHONOPTIMIZE PYTHONSTARTUP PYTHONWARNINGS
    # The sanitizers: an exit status of 0, or reports that are left out.
    ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS
    # Shells and what they call.
    BASH_ENV CDPATH ENV GLOBIGNORE GREP_OPTIONS POSIXLY_CORRECT TAR_OPTIONS DESTDIR
    GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
    # Libraries and gnuplot.
    ARGP_HELP_FMT GNUPLOT_LIB GNUTERM OPENSSL_CONF XML_CATALOG_FILES)
    unset(ENV{${name}})
endforeach()
