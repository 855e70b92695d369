/**
 * The exported function. Its parameters are the start and end of the rows, the row width, and the addresses of the
 * query and the sums.
 */
type Dots = (...places: readonly [number, number, number, number, number]) => void

/** Exports of the module built in `dot-products.ts`. */
interface WasmParts {
  readonly dots: Dots | null
  readonly memory: ArrayBuffer | null
}

interface Wasm {
  readonly validate: (bytes: Uint8Array) => boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (
    module: object,
  ) => { readonly exports: { readonly dots: Dots; readonly memory: { readonly buffer: ArrayBuffer } } }
}

/**
 * Instantiates the module. The casts are safe because only `dot-products.ts` builds it. Returns nulls where the
 * processor or the platform cannot run it.
 */
export const wasmParts = (bytes: Uint8Array): WasmParts => {
  const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly?: Wasm }
  if (wasm === undefined || !wasm.validate(bytes)) return { dots: null, memory: null }
  try {
    const { dots, memory } = new wasm.Instance(new wasm.Module(bytes)).exports
    return { dots, memory: memory.buffer }
  } catch {
    // its memory reserves gigabytes of address space, which some systems limit
    return { dots: null, memory: null }
  }
}
