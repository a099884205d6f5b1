// A C++ extension module for preload_python3_cxx.sh: churn(seed, rounds) fills standard containers
// in threads of its own and returns a checksum; fail() lets operator new fail and returns what it
// threw.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

struct alignas(64) Line {
    std::uint64_t value[8];
};

std::uint64_t run_churn(unsigned seed, unsigned long rounds)
{
    std::minstd_rand random(seed + 1);
    std::map<std::string, std::vector<std::string>> tree;
    std::unordered_map<unsigned, std::shared_ptr<Line>> lines;
    std::uint64_t sum = 0;

    for (unsigned long i = 0; i < rounds; i++) {
        unsigned key = static_cast<unsigned>(random() % 997);
        tree["key " + std::to_string(key)].emplace_back(random() % 300, 'x');
        auto line = std::make_shared<Line>();
        line->value[7] = i;
        lines[key] = line;
        if (i % 5 == 0) {
            tree.erase(tree.begin());
        }
        if (i % 100 == 0) {
            std::ostringstream text;
            text << i << ' ' << tree.size() << ' ' << lines.size();
            sum += std::hash<std::string>()(text.str());
        }
    }
    for (const auto &entry : tree) {
        for (const auto &string : entry.second) {
            sum = sum * 31 + string.size();
        }
    }
    for (unsigned key = 0; key < 997; key++) {
        auto found = lines.find(key);
        if (found != lines.end()) {
            sum = sum * 31 + found->second->value[7];
        }
    }
    return sum;
}

PyObject *churn(PyObject *, PyObject *args)
{
    unsigned seed;
    unsigned long rounds;
    if (!PyArg_ParseTuple(args, "Ik", &seed, &rounds)) {
        return nullptr;
    }
    std::vector<std::uint64_t> sums(4);
    std::vector<std::thread> threads;
    Py_BEGIN_ALLOW_THREADS for (unsigned n = 0; n < sums.size(); n++)
    {
        threads.emplace_back([&sums, seed, rounds, n] { sums[n] = run_churn(seed + n, rounds); });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    Py_END_ALLOW_THREADS std::uint64_t sum = 0;
    for (auto each : sums) {
        sum = sum * 31 + each;
    }
    return PyLong_FromUnsignedLongLong(sum);
}

PyObject *fail(PyObject *, PyObject *)
{
    std::size_t volatile huge = SIZE_MAX / 4;
    try {
        std::unique_ptr<char[]> block(new char[huge]);
        // Without this the compiler may remove the pair of new and delete.
        __asm__ volatile("" : : "r"(block.get()) : "memory");
        return PyUnicode_FromString("it did not throw");
    } catch (const std::bad_alloc &error) {
        return PyUnicode_FromString(error.what());
    }
}

PyMethodDef methods[] = {
    {"churn", churn, METH_VARARGS, "churn(seed, rounds) -> checksum"},
    {"fail", fail, METH_NOARGS, "fail() -> text of the exception"},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "inkext_cxx", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr,
};

} // namespace

PyMODINIT_FUNC PyInit_inkext_cxx()
{
    return PyModule_Create(&module);
}
