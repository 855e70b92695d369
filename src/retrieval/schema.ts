/** Takes where rows begin and end, the width of one, and where the query and the sums are. */
type Dots = (...places: readonly [number, number, number, number, number]) => void

/** What the module of `dot-products.ts` exports. */
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

/** Instantiates the module. The casts hold because only `dot-products.ts` writes it; nulls where the processor or the platform cannot run it. */
export const wasmParts = (bytes: Uint8Array): WasmParts => {
  const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly?: Wasm }
  if (wasm === undefined || !wasm.validate(bytes)) return { dots: null, memory: null }
  try {
    const { dots, memory } = new wasm.Instance(new wasm.Module(bytes)).exports
    return { dots, memory: memory.buffer }
  } catch {
    // its memory reserves gigabytes of addresses, which some systems limit
    return { dots: null, memory: null }
  }
}
