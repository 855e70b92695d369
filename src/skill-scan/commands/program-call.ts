import type { Value } from './value.ts'
import type { World } from './world.ts'

/** A call of a program, with what was read about its arguments and its input. */
export interface ProgramCall {
  /** Name without its folder, in lower case. */
  readonly name: string
  /** Path or name as it is written. */
  readonly path: string
  readonly args: readonly Value[]
  readonly input: Value
  /** Whether something is piped or redirected into it. */
  readonly hasInput: boolean
  readonly world: World
  readonly shell: Shell
}

/** Reads commands within commands, for programs that run others. */
export interface Shell {
  /** Reads a text as shell commands; returns what they print. */
  readonly run: (text: string, world: World, input?: Value) => Value
  /** Reads a call whose words are given. */
  readonly call: (words: readonly Value[], from: Pick<ProgramCall, 'world' | 'input' | 'hasInput'>) => Value
}

/** Reads what a program does, and returns what it prints; undefined when it is not one that this knows. */
export type Program = (call: ProgramCall) => Value | undefined

/** Whether an argument is one of these options, perhaps the last of several letters: `-so` is `-s -o`. */
const isOption = (text: string, names: readonly string[]): boolean =>
  names.includes(text) || (/^-[a-zA-Z]{2,8}$/u.test(text) && names.includes(`-${text.at(-1)}`))

/** Returns the values that follow an option, written separately or with `=`. */
export const optionValues = (args: readonly Value[], names: readonly string[]): readonly Value[] =>
  args.flatMap((arg, index) => {
    const { text, traits } = arg
    if (isOption(text, names)) return args.slice(index + 1, index + 2)
    const name = names.find(
      (each) =>
        text.startsWith(each) && (each.startsWith('--') ? text[each.length] === '=' : text.length > each.length),
    )
    return name === undefined ? [] : [{ text: text.slice(name.length).replace(/^=/u, ''), traits }]
  })

/** Returns the arguments that are no options; the values of `taking` options are skipped. */
export const operands = (args: readonly Value[], taking: readonly string[] = []): readonly Value[] => {
  const kept: Value[] = []
  let skips = false
  for (const arg of args) {
    if (skips) skips = false
    else if (isOption(arg.text, taking)) skips = true
    else if (!arg.text.startsWith('-') || arg.text === '-') kept.push(arg)
  }
  return kept
}

/** All arguments as one text. */
export const wholeText = (args: readonly Value[]): string => args.map(({ text }) => text).join(' ')
