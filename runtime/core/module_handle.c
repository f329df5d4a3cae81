/* module_handle.c: for a shared object that is linked without the compiler's start files
 * (-nostartfiles), the parts of them that quipu needs: __dso_handle, which pthread_atfork passes to
 * the C library, and the call at the object's end that removes what was registered with it. Without
 * that call, a fork after dlclose would run handlers that no longer exist. quipu cc makes the
 * linker look for the name, so this file is linked if nothing else defines it. */

extern void __cxa_finalize(void *handle);

extern void *__dso_handle;
void *__dso_handle = &__dso_handle;

__attribute__((destructor)) static void end_module(void) {
    __cxa_finalize(&__dso_handle);
}
