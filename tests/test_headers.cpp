// Tests share the headers that are compiled with it (cmake/TesseraTargets.cmake).
int main() {}
