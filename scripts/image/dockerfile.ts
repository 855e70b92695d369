/** One instruction of a Dockerfile, with continued lines joined. */
export interface Instruction {
  readonly name: string
  readonly rest: string
}

/** Returns the instructions of a Dockerfile, without comments. */
export const instructionsOf = (dockerfile: string): readonly Instruction[] =>
  dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? []
      return { name, rest: rest.trim() }
    })

/** Returns the variables of an `ENV` line. */
export const variablesOf = (rest: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    rest.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
