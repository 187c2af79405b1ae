// Calls the operator through the two stages of its ACLNN interface, as an application does, and checks the result
// against the formula in double. Exit code 0 where both gradients are within 1e-5, 1 otherwise.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnn_gaussian_nll_loss_grad.h"

namespace {
constexpr double TOLERANCE = 1e-5;

using Shape = std::vector<int64_t>;

// Says which call failed and with what code.
bool Ok(int code, const char *call)
{
    if (code != ACL_SUCCESS) {
        std::printf("%s failed with code %d: %s\n", call, code, aclGetRecentErrMsg());
    }
    return code == ACL_SUCCESS;
}

// A float tensor on the device: its memory and the handle that describes it. Both end with the object.
class DeviceTensor {
public:
    DeviceTensor(const Shape &shape, const std::vector<float> &values) : bytes_(values.size() * sizeof(float))
    {
        Shape strides(shape.size(), 1);
        for (size_t i = shape.size(); i-- > 1;) {
            strides[i - 1] = strides[i] * shape[i];
        }
        if (Ok(aclrtMalloc(&memory_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc") &&
            Ok(aclrtMemcpy(memory_, bytes_, values.data(), bytes_, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy")) {
            handle_ = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                                      shape.data(), shape.size(), memory_);
        }
    }
    DeviceTensor(const DeviceTensor &) = delete;
    DeviceTensor &operator=(const DeviceTensor &) = delete;
    ~DeviceTensor()
    {
        if (handle_ != nullptr) {
            aclDestroyTensor(handle_);
        }
        if (memory_ != nullptr) {
            aclrtFree(memory_);
        }
    }

    aclTensor *Handle() const { return handle_; }

    bool Read(std::vector<float> &values) const
    {
        return Ok(aclrtMemcpy(values.data(), bytes_, memory_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
    }

private:
    size_t bytes_;
    void *memory_ = nullptr;
    aclTensor *handle_ = nullptr;
};

bool Matches(const char *name, const std::vector<float> &actual, const std::vector<double> &expected)
{
    double worst = 0.0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const double error = std::fabs(actual[i] - expected[i]);
        std::printf("%s[%zu]: %.7f, expected %.7f\n", name, i, actual[i], expected[i]);
        // Written so that NaN, which is neither above nor below, counts as infinitely wrong.
        worst = error <= worst ? worst : (error > worst ? error : INFINITY);
    }
    std::printf("%s: largest error %.3g, at most %.3g allowed\n", name, worst, TOLERANCE);
    return worst <= TOLERANCE;
}

bool Compute(aclrtStream stream)
{
    // Rows of 3: target and var have one element for each row, so gradVar is a sum over the row.
    const size_t rows = 2;
    const size_t columns = 3;
    const Shape full = {2, 3};
    const Shape column = {2, 1};
    const std::vector<float> gradOutput = {1.0f, 0.5f, -1.0f, 2.0f, -0.5f, 1.5f};
    const std::vector<float> input = {0.2f, -0.1f, 1.0f, 1.5f, 2.0f, 2.5f};
    const std::vector<float> target = {0.0f, 2.0f};
    const std::vector<float> var = {0.5f, 2.0f};
    const double eps = 1e-6;
    char reduction[] = "none";

    std::vector<float> gradInput(rows * columns, NAN);
    std::vector<float> gradVar(rows, NAN);
    const DeviceTensor gradOutputOnDevice(full, gradOutput);
    const DeviceTensor inputOnDevice(full, input);
    const DeviceTensor targetOnDevice(column, target);
    const DeviceTensor varOnDevice(column, var);
    const DeviceTensor gradInputOnDevice(full, gradInput);
    const DeviceTensor gradVarOnDevice(column, gradVar);

    // First stage: checks the parameters and says how much workspace the second one needs. eps is a double here: the
    // generated interface takes every float attribute as one.
    uint64_t workspaceSize = 0;
    aclOpExecutor *executor = nullptr;
    const aclnnStatus status = aclnnGaussianNllLossGradGetWorkspaceSize(
        gradOutputOnDevice.Handle(), inputOnDevice.Handle(), targetOnDevice.Handle(), varOnDevice.Handle(), true, eps,
        reduction, gradInputOnDevice.Handle(), gradVarOnDevice.Handle(), &workspaceSize, &executor);
    if (!Ok(status, "aclnnGaussianNllLossGradGetWorkspaceSize")) {
        return false;
    }
    void *workspace = nullptr;
    if (workspaceSize > 0 && !Ok(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc")) {
        return false;
    }
    // Second stage: queues the kernel on the stream. The result is there once the stream is done.
    bool done = Ok(aclnnGaussianNllLossGrad(workspace, workspaceSize, executor, stream), "aclnnGaussianNllLossGrad") &&
                Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream") && gradInputOnDevice.Read(gradInput) &&
                gradVarOnDevice.Read(gradVar);
    if (workspace != nullptr) {
        aclrtFree(workspace);
    }
    if (!done) {
        return false;
    }

    std::vector<double> expectedInput(rows * columns);
    std::vector<double> expectedVar(rows, 0.0);
    for (size_t i = 0; i < rows * columns; ++i) {
        const size_t row = i / columns;
        const double v = std::max(static_cast<double>(var[row]), eps);
        const double ratio = (static_cast<double>(input[i]) - target[row]) / v;
        expectedInput[i] = gradOutput[i] * ratio;
        expectedVar[row] += gradOutput[i] * 0.5 * (1.0 / v - ratio * ratio);
    }
    const bool inputMatches = Matches("gradInput", gradInput, expectedInput);
    const bool varMatches = Matches("gradVar", gradVar, expectedVar);
    return inputMatches && varMatches;
}
} // namespace

int main()
{
    constexpr int32_t device = 0;
    if (!Ok(aclInit(nullptr), "aclInit")) {
        return 1;
    }
    bool passed = false;
    if (Ok(aclrtSetDevice(device), "aclrtSetDevice")) {
        aclrtStream stream = nullptr;
        if (Ok(aclrtCreateStream(&stream), "aclrtCreateStream")) {
            passed = Compute(stream);
            aclrtDestroyStream(stream);
        }
        aclrtResetDevice(device);
    }
    aclFinalize();
    std::printf("%s\n", passed ? "PASS" : "FAIL");
    return passed ? 0 : 1;
}
