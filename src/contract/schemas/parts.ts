/**
 * What the schemas of all documents are put together from.
 * Owns: strictness, names for the OpenAPI document, units in words. Plain zod: names and descriptions are its `meta`.
 */
import { z } from "zod";

// The plain types are read-only throughout, and so are these; a field that is not named is a mistake, hence strict.
export const document = <S extends z.core.$ZodLooseShape>(name: string, shape: S) =>
  z.strictObject(shape).readonly().meta({ id: name });
export const part = <S extends z.core.$ZodLooseShape>(shape: S) => z.strictObject(shape).readonly();
export const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();

// `.nullable()` on a schema with a name comes out of the generator as "this object, and null too", which nothing satisfies.
export const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

// The plain types say "absent" and never "undefined". The generator understands zod's optional() only, whose type says both.
export const maybe = <T extends z.ZodType>(schema: T) => schema.optional() as unknown as z.ZodExactOptional<T>;

// JSON has no infinity and no NaN, and z.number() refuses both.
export const number = z.number();
export const measured = number.nullable();
export const whole = z.int();
export const when = number.meta({ description: "Milliseconds since 1970, of the managed world." });

export const pageOf = <T extends z.ZodType>(name: string, item: T) =>
  document(name, {
    items: list(item),
    next: z.string().nullable().meta({ description: "The cursor of the following portion; null at the end." }),
  });
