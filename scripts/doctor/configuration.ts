import { type Config, ConfigError, readConfig } from '../../src/config.ts'
import { type Finding, failed, ok } from './finding.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The configuration, with bad variables taken as not set, and what is wrong with it. */
export const checkConfiguration = (
  env: Environment,
): { readonly config: Config; readonly findings: readonly Finding[] } => {
  try {
    return { config: readConfig(env), findings: [ok('configuration', 'every variable has a value that can be used')] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const bad = error.problems.map((problem) => problem.split(' ')[0] ?? '')
    const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !bad.includes(name)))
    return { config: readConfig(rest), findings: error.problems.map(problemFound) }
  }
}

const problemFound = (problem: string): Finding =>
  failed('configuration', problem, 'Correct it: the server does not start. README.md, "Configuration", has them all.')
