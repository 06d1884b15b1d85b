/* cc -o read read.c && ./read ../1 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	char path[4096], name[128], type[16], shape[64];
	long first, count, version;
	snprintf(path, sizeof path, "%s/index.txt", argc > 1 ? argv[1] : ".");
	FILE *index = fopen(path, "r");
	snprintf(path, sizeof path, "%s/data.bin", argc > 1 ? argv[1] : ".");
	FILE *data = fopen(path, "rb");
	if (!index || !data || fscanf(index, "posenc-vectors %ld", &version) != 1 || version != 1) return 1;
	while (fscanf(index, "%127s %15s %ld %ld %63s", name, type, &first, &count, shape) == 5) {
		int is_f32 = !strcmp(type, "float32"), is_f64 = !strcmp(type, "float64");
		if (!is_f32 && !is_f64 && strcmp(type, "int64")) {
			fprintf(stderr, "%s of %s: want float32, float64 or int64\n", name, type);
			return 1;
		}
		double sum = 0;
		fseek(data, first, SEEK_SET);
		for (long i = 0; i < count; i++) {
			union { float f32; double f64; int64_t i64; } x; /* of a little-endian machine */
			if (fread(&x, is_f32 ? 4 : 8, 1, data) != 1) return 1;
			sum += is_f32 ? x.f32 : is_f64 ? x.f64 : (double)x.i64;
		}
		printf("%s %s %s %.6f\n", name, type, shape, sum);
	}
	return 0;
}
