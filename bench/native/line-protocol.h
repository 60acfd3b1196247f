/*
 * The line protocol of every contender: one request per line on standard input, one answer per line on standard output.
 *   time <task> <iterations>            → ok <wall nanoseconds> <processor nanoseconds>
 *   check <task> <steps> <answer file>  → ok
 * Anything else is answered with "error <why>". The process ends when its input does.
 */
#ifndef BENCH_LINE_PROTOCOL_H
#define BENCH_LINE_PROTOCOL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  const char *name;
  void (*prepare)(const float *data, size_t count); /* (re)starts from the fixture */
  void (*run)(long iterations);
  const float *(*answer)(size_t *count); /* what the other contenders must agree with */
} task;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static float *read_floats(const char *folder, const char *name, size_t *count) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.f32", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *count = (size_t)ftell(file) / sizeof(float);
  rewind(file);
  void *block = NULL; /* aligned, so that no vector load of a weight crosses a cache line */
  if (posix_memalign(&block, 64, *count * sizeof(float) + 64) != 0) { fclose(file); return NULL; }
  float *data = block;
  if (fread(data, sizeof(float), *count, file) != *count) { fclose(file); free(data); return NULL; }
  fclose(file);
  return data;
}

static int serve(const task *tasks, const char *folder) {
  char line[8192], verb[16], name[64], rest[4096];
  const task *ready = NULL;
  float *data = NULL;
  size_t count = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin)) {
    long number = 0;
    rest[0] = 0;
    if (sscanf(line, "%15s %63s %ld %4095[^\n]", verb, name, &number, rest) < 3) { puts("error malformed request"); continue; }
    const task *chosen = tasks;
    while (chosen->name && strcmp(chosen->name, name) != 0) chosen++;
    if (!chosen->name) { printf("error no task %s\n", name); continue; }
    const int is_check = strcmp(verb, "check") == 0;
    if (ready != chosen || is_check) {
      free(data);
      data = read_floats(folder, name, &count);
      if (!data) { ready = NULL; printf("error can not read the fixture of %s\n", name); continue; }
      chosen->prepare(data, count);
      ready = chosen;
    }
    if (is_check) {
      chosen->run(number);
      size_t length = 0;
      const float *values = chosen->answer(&length);
      FILE *file = fopen(rest, "wb");
      if (!file || fwrite(values, sizeof(float), length, file) != length) { puts("error can not write the answer"); if (file) fclose(file); continue; }
      fclose(file);
      puts("ok");
    } else {
      const double wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
      chosen->run(number);
      printf("ok %.0f %.0f\n", now(CLOCK_MONOTONIC) - wall, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    }
  }
  return 0;
}

#endif
