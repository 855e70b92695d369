import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientCheck, needing, run } from './client-check.ts'

/** Pinned: raise a version here to try a new one. */
const goModules = ['github.com/openai/openai-go/v3 v3.96.0', 'github.com/anthropics/anthropic-sdk-go v1.84.0']
const mcpModules = ['github.com/mark3labs/mcp-go v1.2.1', 'github.com/modelcontextprotocol/go-sdk v1.8.0']
const javaArtifacts = {
  openai: [['com.openai', 'openai-java', '4.101.0']],
  anthropic: [['com.anthropic', 'anthropic-java', '3.12.0']],
  langchain4j: [
    ['dev.langchain4j', 'langchain4j', '1.19.0'],
    ['dev.langchain4j', 'langchain4j-open-ai', '1.19.0'],
  ],
}
const crates = {
  'async-openai': '{ version = "=0.43.0", features = ["chat-completion", "responses", "embedding", "model", "audio"] }',
  tokio: '{ version = "1", features = ["macros", "rt"] }',
  futures: '"0.3"',
  serde: '"1"',
  serde_json: '"1"',
}

/** A cold build of openai-go takes 79 s of CPU with optimization and 52 s without, and the program runs for a second. */
export const goFlags = ['-gcflags=all=-N -l', '-ldflags=-s -w']

const goCheckOf = (program: string, modules = goModules): ClientCheck =>
  needing(['go'], (world) => {
    const requirements = modules.map((module) => `require ${module}\n`).join('')
    writeFileSync(join(world.folder, 'go.mod'), `module clients\n\ngo 1.24\n\n${requirements}`)
    copyFileSync(join(import.meta.dirname, 'go', program), join(world.folder, 'main.go'))
    run(world, 'go', ['run', ...goFlags, '.'], { GOFLAGS: '-mod=mod' })
  })

const javaCheckOf = (name: keyof typeof javaArtifacts, program: string): ClientCheck =>
  needing(['java', 'mvn'], (world) => {
    const dependencies = javaArtifacts[name]
      .map(
        ([groupId, artifactId, version]) =>
          `<dependency><groupId>${groupId}</groupId><artifactId>${artifactId}</artifactId><version>${version}</version></dependency>`,
      )
      .join('')
    const own =
      '<modelVersion>4.0.0</modelVersion><groupId>clients</groupId><artifactId>clients</artifactId><version>1</version>'
    const project = `<project>${own}<dependencies>${dependencies}</dependencies></project>`
    writeFileSync(join(world.folder, 'pom.xml'), project)
    run(world, 'mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'])
    copyFileSync(join(import.meta.dirname, 'java', program), join(world.folder, program))
    run(world, 'java', ['-cp', 'lib/*', program])
  })

/** SDKs of compiled languages, by name. One whose compiler is missing is skipped. */
export const compiledSdks: Readonly<Record<string, ClientCheck>> = {
  'openai-go': goCheckOf('openai.go'),
  'anthropic-go': goCheckOf('anthropic.go'),
  'openai-java': javaCheckOf('openai', 'OpenAi.java'),
  'anthropic-java': javaCheckOf('anthropic', 'AnthropicTurns.java'),
}

/** async-openai first compiles about 150 crates, which takes minutes of CPU time. */
const asyncOpenai: ClientCheck = needing(['cargo'], (world) => {
  const dependencies = Object.entries(crates).map(([name, version]) => `${name} = ${version}\n`)
  const heading = '[package]\nname = "turn"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'
  writeFileSync(join(world.folder, 'Cargo.toml'), heading + dependencies.join(''))
  mkdirSync(join(world.folder, 'src'))
  copyFileSync(join(import.meta.dirname, 'rust/turn.rs'), join(world.folder, 'src/main.rs'))
  run(world, 'cargo', ['run', '--quiet'])
})

/** Clients that differ little from the SDKs; only the full run includes them. */
export const otherCompiledClients: Readonly<Record<string, ClientCheck>> = {
  'async-openai': asyncOpenai,
  'mcp-go': goCheckOf('mcp.go', mcpModules),
  langchain4j: javaCheckOf('langchain4j', 'LangChain4jTurns.java'),
}
