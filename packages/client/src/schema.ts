/** An object whose type a declaration gives; by default one of which nothing is known, since it may be of another server. */
export const asFields = <T = Readonly<Record<string, unknown>>>(value: unknown) => Object(value) as T

/** Arguments of a function, which the model was given the schema of. */
export const asNever = (value: unknown) => value as never
