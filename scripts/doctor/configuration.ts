import { type Config, ConfigError, readConfig } from '#src/config.ts'
import { type Finding, failed, ok, warning } from './finding.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The configuration, with bad variables taken as not set, and what is wrong with it. */
export const checkConfiguration = (
  env: Environment,
): { readonly config: Config; readonly findings: readonly Finding[] } => {
  try {
    const config = readConfig(env)
    const usable = ok('configuration', 'every variable has a value that can be used')
    return { config, findings: [usable, ...proxiesFound(config)] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const bad = error.problems.map((problem) => problem.split(' ')[0] ?? '')
    const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !bad.includes(name)))
    return { config: readConfig(rest), findings: error.problems.map(problemFound) }
  }
}

/** The server itself speaks http only: behind an https URL there is a proxy. */
const proxiesFound = ({ publicUrl, trustedProxies }: Config): readonly Finding[] => {
  if (trustedProxies !== null || publicUrl?.startsWith('https:') !== true) return []
  const says = 'PUBLIC_URL is https, so a proxy stands in front, and every client has its address'
  const advice =
    'Set TRUSTED_PROXIES to its address or network, or to how many there are: failed logins are counted by it.'
  return [warning('proxies', says, advice)]
}

const problemFound = (problem: string): Finding =>
  failed(
    'configuration',
    problem,
    'Correct it: the server does not start. docs/operating.md, "Configuration", has them all.',
  )
