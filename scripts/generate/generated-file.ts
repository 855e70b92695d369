/** A file that is generated from the declarations. `path` is from the root of the project. */
export interface GeneratedFile {
  readonly path: string
  readonly text: string
}
