/** The parts of package.json that are used here. */
export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly os?: unknown
  readonly cpu?: unknown
}

/** The parts of package-lock.json that are used here; packages by folder. */
export interface Lock {
  readonly packages: Readonly<Record<string, Locked>>
}

/**
 * Returns the platform-specific part of an installation: dependencies that are bound to a platform, or that depend on a
 * package which is, with all of their dependencies. All others are the same on every platform.
 */
export const boundPart = (
  { dependencies, optionalDependencies }: Manifest,
  lock: Lock,
): { readonly manifest: Manifest; readonly lock: Lock } => {
  const brought = (name: string) => broughtBy(lock, [`node_modules/${name}`])
  const bound = Object.entries(dependencies).filter(([name]) => brought(name).some((at) => isBound(lock, at)))
  const manifest: Manifest = { dependencies: Object.fromEntries(bound), optionalDependencies }
  const names = [...bound.map(([name]) => name), ...Object.keys(optionalDependencies)]
  const packages = names.flatMap(brought).map((at) => [at, lock.packages[at] ?? {}] as const)
  return { manifest, lock: { ...lock, packages: { '': manifest, ...Object.fromEntries(packages) } } }
}

const isBound = ({ packages }: Lock, at: string): boolean =>
  packages[at]?.os !== undefined || packages[at]?.cpu !== undefined

/** Returns the folders of these packages and of all their dependencies. */
const broughtBy = (lock: Lock, first: readonly string[]): readonly string[] => {
  const found = new Set(first)
  for (const at of found) {
    const { dependencies, optionalDependencies, peerDependencies } = lock.packages[at] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const folder = folderOf(lock, name, at)
      if (folder !== null) found.add(folder)
    }
  }
  return [...found]
}

/**
 * Resolves a package as Node does: in the package's own folder, else in those above it. Null when it is not installed.
 */
const folderOf = (lock: Lock, name: string, from: string): string | null => {
  for (let above = from; ; above = above.slice(0, Math.max(0, above.lastIndexOf('/node_modules/')))) {
    const folder = above === '' ? `node_modules/${name}` : `${above}/node_modules/${name}`
    if (lock.packages[folder] !== undefined) return folder
    if (above === '') return null
  }
}
