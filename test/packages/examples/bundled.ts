import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { rolldown } from 'rolldown'
import { ours } from '../packed.ts'

/** Bundles a program, with the clients from their sources. */
export const bundled = async (path: string, platform: 'browser' | 'node' = 'browser'): Promise<string> =>
  bundledProgram(`import ${JSON.stringify(ours(path))}`, platform)

/** Bundles the text of a program; packages other than the clients are those of a folder, or of this project. */
export const bundledProgram = async (
  text: string,
  platform: 'browser' | 'node' = 'browser',
  folder = ours('.'),
): Promise<string> => {
  const alias = {
    '@troupe/client/api': ours('packages/client/src/api/index.ts'),
    '@troupe/client/images': ours('packages/client/src/images.ts'),
    '@troupe/client/test': ours('packages/client/src/test/index.ts'),
    '@troupe/client': ours('packages/client/src/index.ts'),
    '@troupe/react/images': ours('packages/react/src/images.ts'),
    '@troupe/react': ours('packages/react/src/index.ts'),
    react: join(folder, 'node_modules/react'),
    'react-dom': join(folder, 'node_modules/react-dom'),
  }
  const program = join(folder, 'program.tsx')
  const bundle = await rolldown({
    input: program,
    platform,
    // directives for servers that render React mean nothing in one file
    onLog: (level, log, shown) => log.code === 'MODULE_LEVEL_DIRECTIVE' || shown(level, log),
    resolve: { alias },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === program ? id : null),
        load: (id) => (id === program ? { code: text, moduleType: 'tsx' } : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm' })
  await bundle.close()
  return output[0].code
}

/** A server of a page: it serves the page, its code, and one route. */
export interface PageServer {
  readonly url: string
  close(): void
}

/** Serves a page, and `POST /token` and `POST /step/<name>` by functions. */
export const servePage = async (
  page: { readonly html: string; readonly code: string },
  token: () => Promise<unknown>,
  step: (name: string, body: string) => Promise<string> = async () => '',
): Promise<PageServer> => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, name] = /^\/step\/(\w+)$/.exec(request.url ?? '') ?? []
    if (name !== undefined) response.end(await step(name, await textOf(request)))
    else if (request.url === '/token') response.end(JSON.stringify(await token()))
    else if (request.url === '/code.js') response.setHeader('content-type', 'text/javascript').end(page.code)
    else response.setHeader('content-type', 'text/html').end(page.html)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address())
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}
