import { existsSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * For `node --import`: the clients are resolved by the `exports` of their packages, as a stranger's are, to the sources from
 * which the files there are made.
 */
const root = new URL('../../../', import.meta.url)

/** @throws {Error} for an entry that the package does not have. */
const sourceOf = (name: string, entry: string): string => {
  const { exports } = JSON.parse(readFileSync(new URL(`packages/${name}/package.json`, root), 'utf8'))
  const made: string = exports[`.${entry}`]?.default ?? ''
  const source = new URL(made.replace('./dist/', '').replace(/\.js$/, '.ts'), root)
  if (made === '' || !existsSync(source)) throw new Error(`@troupe/${name}${entry} is no entry of the package`)
  return source.href
}

registerHooks({
  resolve: (specifier, context, next) => {
    const [, name, entry = ''] = /^@troupe\/(client|react)(\/.*)?$/.exec(specifier) ?? []
    return name === undefined ? next(specifier, context) : { url: sourceOf(name, entry), shortCircuit: true }
  },
})
