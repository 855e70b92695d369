import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** Options by name as `parseArgs` takes them, and what `--help` prints. */
interface CommandLine<Options extends ParseArgsOptionsConfig> {
  readonly usage: string
  readonly options: Options
}

/** Ends the process with 2: says what is wrong with the command line, and how the command is used. */
export const refuseCommandLine = (usage: string, message: string): never => {
  process.stderr.write(`${message}\n${usage}\n`)
  return process.exit(2)
}

/** Shows the usage if it is requested, and ends the process with 0. */
const showHelp = (usage: string, args: readonly string[]): void => {
  if (!args.includes('--help') && !args.includes('-h')) return
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}

/** Node adds how to give an option as a name, which no command takes. */
const firstSentence = (error: unknown): string => String(Object(error).message).replace(/\. To specify [\s\S]*/, '.')

/** What `parse` returns; what it refuses ends the process with 2, before anything is done. */
const parsedOr2 = <Parsed>(usage: string, parse: () => Parsed): Parsed => {
  try {
    return parse()
  } catch (error) {
    return refuseCommandLine(usage, firstSentence(error))
  }
}

/**
 * The options that a command was called with. `--help` prints its usage and ends the process with 0; what it does not
 * know, or takes no value, ends it with 2, before anything is done.
 */
export const readCommandLine = <Options extends ParseArgsOptionsConfig>(
  { usage, options }: CommandLine<Options>,
  args: readonly string[] = process.argv.slice(2),
) => {
  showHelp(usage, args)
  return parsedOr2(usage, () => parseArgs({ args: [...args], options })).values
}

/** Options, and names beside them, that a command was called with. Otherwise as `readCommandLine`. */
export const readArguments = <Options extends ParseArgsOptionsConfig>(
  { usage, options }: CommandLine<Options>,
  args: readonly string[] = process.argv.slice(2),
) => {
  showHelp(usage, args)
  return parsedOr2(usage, () => parseArgs({ args: [...args], options, allowPositionals: true }))
}

/** Number of the option `name`. Ends the process with 2 if it is not above 0. */
export const positiveOption = (usage: string, name: string, text: string): number =>
  /^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0
    ? Number(text)
    : refuseCommandLine(usage, `--${name} must be a number above 0`)

/** Whole number of the option `name`. Ends the process with 2 if it is not above 0. */
export const wholeOption = (usage: string, name: string, text: string): number =>
  /^\d{1,9}$/.test(text) && Number(text) > 0
    ? Number(text)
    : refuseCommandLine(usage, `--${name} must be a whole number above 0`)

/** Comma-separated names of the option `name`. Ends the process with 2 when one of them is not `known`. */
export const namesOption = <Name extends string>(
  { usage, name, known }: { readonly usage: string; readonly name: string; readonly known: readonly Name[] },
  text: string,
): readonly Name[] => {
  const given = text.split(',')
  const unknown = given.filter((each) => !known.some((one) => one === each))
  if (unknown.length > 0)
    refuseCommandLine(usage, `--${name}: there is no '${unknown.join(', ')}'. There are ${known.join(', ')}.`)
  return known.filter((each) => given.includes(each))
}
