/** Any value that JSON can represent. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined }
