/* Starts and ends Python three times, and runs the text of its argument in each. */

#include <Python.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++) {
        Py_Initialize();
        if (PyRun_SimpleString(argv[1]) || Py_FinalizeEx())
            return 1;
    }
    return argc != 2;
}
