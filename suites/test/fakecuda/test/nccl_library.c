/* nccl_library.c: a library that is called NCCL's, with at most one of its calls. */
int DP_TEST_NAME(int *version);

int DP_TEST_NAME(int *version)
{
    *version = DP_TEST_VERSION;
    return DP_TEST_RESULT;
}
