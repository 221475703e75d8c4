/* state_test.c: the environment, failures on demand, and the verdict at the end of a process. */
#include "tools.h"

#include <cublas_v2.h>
#include <stdlib.h>
#include <string.h>

static struct fakecuda_config config_with(const char *name, const char *value)
{
    setenv(name, value, 1);
    struct fakecuda_config config = fakecuda_defaults();
    unsetenv(name);
    return config;
}

static void test_environment(void)
{
    CHECK(config_with("LOCKSTEP_FAKE_GPUS", "8").devices == 8);
    CHECK(config_with("LOCKSTEP_FAKE_MODE", "random").mode == FAKECUDA_RANDOM);
    CHECK(config_with("LOCKSTEP_FAKE_SEED", "77").seed == 77);
    CHECK(!config_with("LOCKSTEP_FAKE_RACES", "0").races);
    CHECK(!config_with("LOCKSTEP_FAKE_PEER", "0").peer);
    CHECK(config_with("LOCKSTEP_FAKE_MEMORY", "3").memory_bytes == (size_t)3 << 20);
    CHECK(config_with("LOCKSTEP_FAKE_DRIVER", "broken").driver == FAKECUDA_DRIVER_BROKEN);
    CHECK(config_with("LOCKSTEP_FAKE_INIT", "cudaErrorSystemNotReady").init ==
          cudaErrorSystemNotReady);
    struct fakecuda_failure failure = config_with("LOCKSTEP_FAKE_FAIL", "cudaFree:12+").failure;
    CHECK(failure.call == 12 && failure.lasting && strcmp(failure.function, "cudaFree") == 0);
    failure = config_with("LOCKSTEP_FAKE_FAIL", "9").failure;
    CHECK(failure.call == 9 && !failure.lasting && !failure.function);
    const struct fakecuda_config plain = config_with("LOCKSTEP_FAKE_GPUS", "1");
    CHECK(plain.mode == FAKECUDA_LAZY && plain.races && plain.failure.call == 0);
}

static const char *const bad_variables[][2] = {
    {"LOCKSTEP_FAKE_INIT", "cudaErrorNone"},
    {"LOCKSTEP_FAKE_GPUS", "9"},
    {"LOCKSTEP_FAKE_SEED", "x"},
    {"LOCKSTEP_FAKE_MODE", "fast"},
    {"LOCKSTEP_FAKE_FAIL", "cudaMalloc"},
};
static const char *const *bad_variable;

static void with_bad_variable(void)
{
    config_with(bad_variable[0], bad_variable[1]);
}

static void test_bad_environment(void)
{
    for (size_t i = 0; i < sizeof bad_variables / sizeof *bad_variables; ++i) {
        bad_variable = bad_variables[i];
        CHECK(tool_status(with_bad_variable) == 2);
    }
}

static void test_devices(void)
{
    struct cudaDeviceProp properties;
    char bus[16] = "";
    int n = 0, value = 0;
    setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
    test_start(4);
    unsetenv("CUDA_VISIBLE_DEVICES");
    WELL(cudaGetDeviceCount(&n));
    CHECK(n == 2);
    WELL(cudaGetDeviceProperties(&properties, 0));
    CHECK(strcmp(properties.name, FAKECUDA_NAME) == 0 && properties.major == 9);
    CHECK(properties.pciBusID == 0x13);
    WELL(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    CHECK(strcmp(bus, "0000:13:00.0") == 0);
    WELL(cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, 1));
    CHECK(value == 0x11);
    CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
    WELL(cudaDeviceCanAccessPeer(&value, 0, 1));
    CHECK(value == 1);
    WELL(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
    CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
    test_end(NULL);
}

static void check_driver(enum fakecuda_driver driver, int devices, cudaError_t expected,
                         int expected_version)
{
    struct fakecuda_config config = test_config(devices);
    int n = 77, version = -1;
    cublasHandle_t handle = NULL;
    config.driver = driver;
    fakecuda_start(&config);
    CHECK(cudaGetDeviceCount(&n) == expected && n == 77);
    WELL(cudaDriverGetVersion(&version));
    CHECK(version == expected_version);
    CHECK(cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS && !handle);
    CHECK(cudaGetLastError() == expected);
    test_end(NULL);
}

static void test_drivers(void)
{
    check_driver(FAKECUDA_DRIVER_NONE, 4, cudaErrorInsufficientDriver, 0);
    check_driver(FAKECUDA_DRIVER_OLD, 4, cudaErrorInsufficientDriver, 11000);
    check_driver(FAKECUDA_DRIVER_BROKEN, 4, cudaErrorUnknown, CUDART_VERSION);
    check_driver(FAKECUDA_DRIVER_GOOD, 0, cudaErrorNoDevice, CUDART_VERSION);
}

static void test_init(void)
{
    struct fakecuda_config config = test_config(1);
    int n = 77;
    config.init = cudaErrorInitializationError;
    fakecuda_start(&config);
    CHECK(cudaGetDeviceCount(&n) == cudaErrorInitializationError && n == 77);
    CHECK(cudaSetDevice(0) == cudaErrorInitializationError);
    WELL(cudaDriverGetVersion(&n));
    test_end(NULL);
}

static void test_failure(void)
{
    const struct fakecuda_failure second = {.function = "cudaMalloc", .call = 2};
    const struct fakecuda_failure lasting = {
        .call = 2, .error = cudaErrorLaunchFailure, .lasting = true};
    void *a = NULL, *b = NULL;
    test_start(1);
    fakecuda_fail(&second);
    WELL(cudaMalloc(&a, 4));
    CHECK(cudaMalloc(&b, 4) == cudaErrorMemoryAllocation && !b);
    WELL(cudaMalloc(&b, 4));
    CHECK(fakecuda_calls("cudaMalloc") == 3 && fakecuda_calls(NULL) == 3);
    CHECK(fakecuda_calls("cudaFree") == 0);
    fakecuda_fail(&lasting);
    WELL(cudaFree(a));
    CHECK(cudaFree(b) == cudaErrorLaunchFailure); /* freed all the same: see the end */
    CHECK(cudaSetDevice(0) == cudaErrorLaunchFailure);
    CHECK(cudaPeekAtLastError() == cudaErrorLaunchFailure);
    CHECK(strcmp(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    test_end(NULL);
}

static void well(void)
{
    test_start(1);
    WELL(cudaFree(tool_floats(0, 4)));
}

static void leaks(void)
{
    test_start(1);
    tool_floats(0, 4);
}

static void ignores(void)
{
    test_start(1);
    cudaFree((void *)(uintptr_t)12345);
}

static void stops(void)
{
    struct fakecuda_config config = test_config(1);
    config.stop = true;
    fakecuda_start(&config);
    cudaFree((void *)(uintptr_t)12345);
    _Exit(0); /* not reached */
}

static void test_verdict(void)
{
    CHECK(tool_status(well) == 0);
    CHECK(tool_status(leaks) == FAKECUDA_EXIT);
    CHECK(tool_status(ignores) == FAKECUDA_EXIT);
    CHECK(tool_status(stops) == FAKECUDA_EXIT);
}

static void use_in_child(void)
{
    _Exit(cudaSetDevice(0) == cudaErrorInitializationError ? 0 : 1);
}

static void test_fork(void)
{
    test_start(1);
    WELL(cudaSetDevice(0));
    CHECK(tool_status(use_in_child) == 0);
    test_end(NULL); /* what the child did is the child's */
}

static const struct test tests[] = {
    {"state/environment", test_environment},
    {"state/bad-environment", test_bad_environment},
    {"state/devices", test_devices},
    {"state/drivers", test_drivers},
    {"state/init", test_init},
    {"state/failure", test_failure},
    {"state/verdict", test_verdict},
    {"state/fork", test_fork},
};
const struct test_table state_tests = {tests, sizeof tests / sizeof *tests};
