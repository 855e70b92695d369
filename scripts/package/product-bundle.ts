import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { commands } from '#src/start/commands.js'

/**
 * Packages that are not part of the bundle: native code, which npm installs for its platform, and the optional parts, which an
 * operator installs (docs/operating.md).
 */
const external = /^(@node-rs\/argon2|uWebSockets\.js|playwright|onnxruntime-node)($|\/)/

/** Folder of all code, within the folder of the bundle. Addresses of sources are relative to it. */
const codeFolder = 'code'

/** What a bundle consists of. */
interface ProductBundle {
  /** Paths of the entries: each is a file of its own, at the place of its source. */
  readonly entries: readonly string[]
  /** Folders of the packages whose code is in it. */
  readonly packages: readonly string[]
}

/**
 * Bundles the server, its workers and all commands, with the packages that they import, into `folder`. Files that are found by
 * the place of their source (workers, data) are found at the same path in the folder, with `.js` for `.ts`.
 */
export const bundleProduct = async (root: string, folder: string): Promise<ProductBundle> => {
  const entries = entriesOf(root)
  const build = await rolldown({
    ...{ cwd: root, platform: 'node', external, logLevel: 'silent' },
    input: Object.fromEntries(entries.map((path) => [nameOf(path), path === 'src/start.js' ? packagedStart : path])),
    plugins: [{ name: 'places', transform: (code, id) => placed(code, id, root) }],
  })
  const code = join(folder, codeFolder)
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
  const { output } = await build.write({ dir: code, format: 'esm', comments: { legal: true }, ...names })
  await build.close()
  const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []))
  return { entries, packages: packagesOf(modules) }
}

/** The file that an entry's own file imports. */
export const codeOf = (entry: string): string => `${codeFolder}/${nameOf(entry)}.js`

const packagedStart = 'src/start/packaged.js'

const entriesOf = (root: string): readonly string[] => [
  ...Object.values(commands).map(({ file }) => file),
  ...globSync(['src/**/*-worker.ts', 'src/**/embedder-process.ts'], { cwd: root }),
]

const nameOf = (path: string): string => path.replace(/\.[jt]s$/, '').replaceAll('/', '.')

/** Makes addresses that are relative to a source relative to the folder of the code, and its lazy `require`s visible. */
const placed = (code: string, id: string, root: string): { readonly code: string } | null => {
  if (!id.startsWith(`${root}/`) || id.includes('/node_modules/') || !code.includes('import.meta')) return null
  const path = id.slice(root.length + 1)
  const [file, folder] = [`../${path}`, `../${dirname(path)}`].map((each) => JSON.stringify(`/${each}`).slice(1, -1))
  return {
    code: withoutLoaders(code)
      .replaceAll(/\.ts', import\.meta\.url/g, ".js', import.meta.url")
      .replaceAll('import.meta.url', `new URL('.${file}', import.meta.url).href`)
      .replaceAll('import.meta.filename', `(import.meta.dirname + '${file}')`)
      .replaceAll(/import\.meta\.dirname(?! \+ )/g, `(import.meta.dirname + '${folder}')`),
  }
}

/** Turns `const load = createRequire(…)` with its calls into calls of `require`, which the bundler follows. */
const withoutLoaders = (code: string): string => {
  const [declaration, name] = /const (\w+) = createRequire\(import\.meta\.url\);?\n/.exec(code) ?? []
  return declaration === undefined
    ? code
    : code.replace(declaration, '').replaceAll(new RegExp(`\\b${name}\\('`, 'g'), "require('")
}

const packagesOf = (modules: readonly string[]): readonly string[] => {
  const folders = modules.flatMap((id) => {
    const [folder] = /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id) ?? []
    return folder === undefined ? [] : [folder]
  })
  return [...new Set(folders)].toSorted()
}
