import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { frontDoorFindings } from './front-doors.ts'
import { importsOf } from './imports.ts'
import { layerFindings } from './layers.ts'
import type { Finding, SourceFile } from './source-files.ts'

const topFolders = [
  'bench',
  'bin',
  'console',
  'deploy',
  'docs',
  'models',
  'packages',
  'scripts',
  'specs',
  'src',
  'test',
]
/** Folders whose folders have a page too. */
const parents = ['src', 'packages']
/** A page is read at a glance: what the folder is, its entry, what it may import, where to start reading. */
const maxLines = 16

/** Paths of the pages that the folders of the project need, of those folders that exist. */
export const folderReadmePaths = (root: string): readonly string[] =>
  [...topFolders, ...parents.flatMap((parent) => foldersIn(root, parent))]
    .filter((folder) => existsSync(join(root, folder)))
    .map((folder) => `${folder}/README.md`)

/** Reads the pages of folders that exist. */
export const folderReadmes = (root: string): readonly SourceFile[] =>
  folderReadmePaths(root)
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/**
 * Finds folders without a page, pages that are too long, and a line `May import: …` that does not agree with the layers
 * or leaves out a folder that files of the folder import.
 */
export const folderReadmeFindings = (
  paths: readonly string[],
  pages: readonly SourceFile[],
  product: readonly SourceFile[],
): readonly Finding[] =>
  paths.flatMap((path) => {
    const page = pages.find((each) => each.path === path)
    if (page === undefined) return [{ path, line: 1, message: 'is missing: say what the folder is and where to start' }]
    // the page of a package is its page in the registry, with an example
    if (/^packages\/./.test(path) && path !== 'packages/README.md') return []
    return [...lengthFindings(page), ...importFindings(page, product)]
  })

/** Folders of `src` and `packages` that the picture in ARCHITECTURE.md leaves out. */
export const pictureFindings = (root: string, architecture: string): readonly Finding[] => {
  const picture = /```\n[\s\S]*?```/.exec(architecture)?.[0] ?? ''
  return parents
    .flatMap((parent) => foldersIn(root, parent))
    .filter((folder) => !new RegExp(`${folder}(?![\\w-])`).test(picture))
    .map((folder) => ({ path: 'ARCHITECTURE.md', line: 1, message: `the picture leaves out ${folder}` }))
}

const foldersIn = (root: string, parent: string): readonly string[] =>
  existsSync(join(root, parent))
    ? readdirSync(join(root, parent), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${parent}/${name}`)
    : []

const lengthFindings = ({ path, text }: SourceFile): readonly Finding[] => {
  const lines = text.trimEnd().split('\n').length
  return lines > maxLines ? [{ path, line: maxLines + 1, message: `has more than ${maxLines} lines` }] : []
}

/** Only folders of the product are layers; what tools and tests import is not limited. */
function importFindings({ path, text }: SourceFile, product: readonly SourceFile[]): readonly Finding[] {
  const folder = path.slice(0, -'/README.md'.length)
  const line = /^May import: .*/m.exec(text)
  if (line === null) return [{ path, line: 1, message: 'has no line `May import: …`' }]
  if (!/^src\/./.test(folder)) return []
  const named = [...line[0].matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
  const broken = named.filter((target) =>
    [layerFindings, frontDoorFindings].some((findings) => findings([importing(folder, target)]).length > 0),
  )
  const missing = [...importedBy(folder, product)].filter((target) => !named.includes(target))
  return [
    ...broken.map((target) => ({
      path,
      line: 1,
      message: `may not import ${target} (scripts/check/layers.ts, front-doors.ts)`,
    })),
    ...missing.map((target) => ({ path, line: 1, message: `imports ${target} and does not say so` })),
  ]
}

const importing = (folder: string, target: string): SourceFile => ({
  path: `${folder}/a.ts`,
  text: `import '${'../'.repeat(folder.split('/').length)}${target}/index.ts'`,
})

/** Top folders of the product that the files of a folder import: `specs`, `src/machines`. */
const importedBy = (folder: string, product: readonly SourceFile[]): ReadonlySet<string> =>
  new Set(
    product
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .flatMap(importsOf)
      .flatMap(({ target }) => /^(specs|src\/[^/]+|packages\/[^/]+)\//.exec(target)?.[1] ?? [])
      .filter((target) => target !== folder),
  )
