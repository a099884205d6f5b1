/*
 * A C extension module for preload_python3_c.sh: churn(seed, rounds) allocates, grows and frees
 * with the libc functions, without the interpreter's lock, and returns a checksum of what it read.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 512 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static unsigned long long run_churn(uint32_t seed, unsigned long rounds)
{
    unsigned char *slot[SLOTS] = {0};
    size_t size[SLOTS] = {0};
    unsigned long long sum = 0;

    for (unsigned long i = 0; i < rounds; i++) {
        uint32_t at = next_random(&seed) % SLOTS;
        uint32_t kind = next_random(&seed) % 4;
        size_t want = 1 + next_random(&seed) % (i % 64 == 0 ? 200000 : 700);
        if (size[at]) {
            sum = sum * 31 + slot[at][0] + slot[at][size[at] - 1];
        }
        if (kind == 0) {
            unsigned char *grown = realloc(slot[at], want);
            if (!grown) {
                abort();
            }
            slot[at] = grown;
        } else {
            void *fresh = NULL;
            free(slot[at]);
            if (kind == 1) {
                fresh = malloc(want);
            } else if (kind == 2) {
                fresh = calloc(1, want);
            } else if (posix_memalign(&fresh, 64u << (i % 8), want)) {
                fresh = NULL;
            }
            if (!fresh) {
                abort();
            }
            slot[at] = fresh;
        }
        memset(slot[at], (int)(i & 0xff), want);
        size[at] = want;
    }
    for (int at = 0; at < SLOTS; at++) {
        free(slot[at]);
    }
    return sum;
}

static PyObject *churn(PyObject *self, PyObject *args)
{
    unsigned int seed;
    unsigned long rounds;
    unsigned long long sum;

    (void)self;
    if (!PyArg_ParseTuple(args, "Ik", &seed, &rounds)) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS sum = run_churn(seed, rounds);
    Py_END_ALLOW_THREADS return PyLong_FromUnsignedLongLong(sum);
}

static PyMethodDef methods[] = {
    {"churn", churn, METH_VARARGS, "churn(seed, rounds) -> checksum"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "inkext_c", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_inkext_c(void)
{
    return PyModule_Create(&module);
}
