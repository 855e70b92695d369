import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Service, startService } from '#scripts/services/service.ts'
import { installedPeer, placed } from './peer-packages.ts'

/**
 * Starts LangGraph's server for JavaScript, which keeps threads in memory, with a graph that calls the model at `modelUrl`.
 *
 * @param workers number of runs that it works on at the same time
 */
export async function startLangGraph(modelUrl: string, workers: number): Promise<Service> {
  const packages = await installedPeer('langgraph')
  return startService({
    name: 'langgraph',
    command: process.execPath,
    env: () => ({
      ...{ PATH: `${dirname(process.execPath)}:${join(packages, '.bin')}:${process.env.PATH}`, HOME: process.env.HOME },
      ...{ LANGSMITH_TRACING: 'false', LANGCHAIN_TRACING_V2: 'false', LANGGRAPH_CLI_NO_ANALYTICS: '1' },
      MODEL_URL: `${modelUrl}/v1`,
    }),
    args: (port, project) => {
      const graphs = { agent: './langgraph-graph.mjs:graph' }
      const settings = { node_version: '22', dependencies: ['.'], graphs, env: {} }
      writeFileSync(join(project, 'langgraph.json'), JSON.stringify(settings))
      placed('langgraph-graph.mjs', project, packages)
      return [
        ...[join(packages, '@langchain/langgraph-cli/dist/cli/cli.mjs'), 'dev', '--no-browser', '--no-reload'],
        ...['--config', join(project, 'langgraph.json'), '--host', '127.0.0.1', '--port', String(port)],
        ...['--n-jobs-per-worker', String(workers)],
      ]
    },
    url: (port) => `http://127.0.0.1:${port}`,
  })
}
