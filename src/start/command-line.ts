import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** Options by name for `parseArgs`, and the text of `--help`. */
interface CommandLine<Options extends ParseArgsOptionsConfig> {
  readonly usage: string
  readonly options: Options
}

/** A usage as it is typed: `npm run doctor -- --x` in a checkout is `troupe doctor --x` where `troupe` runs the tool. */
const asTyped = (usage: string): string =>
  process.env.TROUPE_COMMAND === undefined
    ? usage
    : usage.replaceAll(/npm run ([a-z-]+)( \[?)-- /g, 'troupe $1$2').replaceAll('npm run ', 'troupe ')

/** Prints an error and the usage, and exits with code 2. */
export const refuseCommandLine = (usage: string, message: string): never => {
  process.stderr.write(`${message}\n${asTyped(usage)}\n`)
  return process.exit(2)
}

/** Prints the usage and exits with code 0 if help is requested. */
const showHelp = (usage: string, args: readonly string[]): void => {
  if (!args.includes('--help') && !args.includes('-h')) return
  process.stdout.write(`${asTyped(usage)}\n`)
  process.exit(0)
}

/** The first sentence of an error; Node appends how to pass an option as a positional, which no command accepts. */
const firstSentence = (error: unknown): string => String(Object(error).message).replace(/\. To specify [\s\S]*/, '.')

/** Returns the result of `parse`; if it throws, exits with code 2 before anything is done. */
const parsedOr2 = <Parsed>(usage: string, parse: () => Parsed): Parsed => {
  try {
    return parse()
  } catch (error) {
    return refuseCommandLine(usage, firstSentence(error))
  }
}

/**
 * Parses the options of a command. `--help` prints the usage and exits with code 0; an unknown option, or a value that
 * an option does not take, exits with code 2 before anything is done.
 */
export const readCommandLine = <Options extends ParseArgsOptionsConfig>(
  { usage, options }: CommandLine<Options>,
  args: readonly string[] = process.argv.slice(2),
) => {
  showHelp(usage, args)
  return parsedOr2(usage, () => parseArgs({ args: [...args], options })).values
}

/** Parses the options and positional arguments of a command; otherwise like `readCommandLine`. */
export const readArguments = <Options extends ParseArgsOptionsConfig>(
  { usage, options }: CommandLine<Options>,
  args: readonly string[] = process.argv.slice(2),
) => {
  showHelp(usage, args)
  return parsedOr2(usage, () => parseArgs({ args: [...args], options, allowPositionals: true }))
}

/** Parses the option `name` as a number. Exits with code 2 if it is not above 0. */
export const positiveOption = (usage: string, name: string, text: string): number =>
  /^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0
    ? Number(text)
    : refuseCommandLine(usage, `--${name} must be a number above 0`)

/** Parses the option `name` as a whole number. Exits with code 2 if it is not above 0. */
export const wholeOption = (usage: string, name: string, text: string): number =>
  /^\d{1,9}$/.test(text) && Number(text) > 0
    ? Number(text)
    : refuseCommandLine(usage, `--${name} must be a whole number above 0`)

/** Parses the option `name` as comma-separated names. Exits with code 2 if one of them is not `known`. */
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
