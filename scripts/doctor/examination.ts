import { checkCluster } from './cluster-check.ts'
import { checkConfiguration } from './configuration.ts'
import { checkDataFolder, checkSqlite } from './data-checks.ts'
import { checkEmbedder } from './embedder-check.ts'
import type { Finding } from './finding.ts'
import { checkMasterKey } from './key-checks.ts'
import { checkMongo } from './mongo-check.ts'
import { checkPort, checkProviders, checkRedis } from './network-checks.ts'
import { checkChromium, checkNode, checkUws } from './process-checks.ts'

/**
 * Runs every check of the installation that the environment describes. An invalid variable counts as not set for the
 * other checks.
 */
export const examine = async (env: Readonly<Record<string, string | undefined>>): Promise<readonly Finding[]> => {
  const { config, findings } = checkConfiguration(env)
  const store = await (config.mongodbUrl === null
    ? checkSqlite(config).then((found) => [found])
    : checkMongo(config.mongodbUrl))
  const answers = store.every(({ status }) => status !== 'failed')
  return [
    ...findings,
    checkNode(),
    checkUws(),
    checkDataFolder(config),
    ...store,
    ...(answers ? await checkCluster(config) : []),
    ...(config.redisUrl === null ? [] : [await checkRedis({ ...config, redisUrl: config.redisUrl })]),
    ...(await checkMasterKey(config, answers)),
    ...(await checkProviders(config)),
    await checkPort(config),
    checkChromium(config),
    await checkEmbedder(config),
  ]
}

/** Formats the findings as lines, one per check, each with its advice below. */
export const reportOf = (findings: readonly Finding[]): readonly string[] => {
  const words = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ' } as const
  const width = Math.max(...findings.map(({ name }) => name.length))
  const lines = findings.flatMap(({ name, status, says, advice }) => [
    `${words[status]}  ${name.padEnd(width)}  ${says}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 11)}→ ${advice}`]),
  ])
  const count = (status: Finding['status']): number => findings.filter((each) => each.status === status).length
  return [
    ...lines,
    `${count('ok')} ok, ${count('warning')} ${count('warning') === 1 ? 'warning' : 'warnings'}, ${count('failed')} failed`,
  ]
}
