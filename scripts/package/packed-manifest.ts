/** The parts of package.json that are used here. */
interface Manifest {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

/** Native code, which npm installs for the platform; all other packages are in the bundle. */
const native = ['@node-rs/argon2']

/** Installed where there is a build for the platform and the Node; without it, node:http serves. */
const nativeServer = 'uWebSockets.js'

/** Optional parts: what the server does without them is in docs/operating.md, "Without a checkout". */
const optional = ['playwright', 'onnxruntime-node']

/** The package.json of the package: it has one command, and neither scripts nor sources. */
export const packedManifest = (manifest: Manifest): object => ({
  name: packageName,
  version: manifest.version,
  description: manifest.description,
  license: manifest.license,
  private: true,
  type: 'module',
  bin: { troupe: 'dist/bin/troupe.js' },
  files: ['dist'],
  engines: manifest.engines,
  dependencies: of(native, manifest),
  optionalDependencies: of([nativeServer], manifest),
  peerDependencies: of(optional, manifest),
  peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
})

/** Name of the package. It has a scope, so that no other person can register it. */
const packageName = '@troupe/server'

const of = (
  names: readonly string[],
  { dependencies, optionalDependencies }: Manifest,
): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, { ...dependencies, ...optionalDependencies }[name] ?? '']))
