import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ClientCheck, type ClientWorld, needing, run } from './client-check.ts'
import { goFlags } from './compiled-sdks.ts'
import { installPackages, runTypeScript } from './generators.ts'

/** Pinned: raise the version here to try a new one. It runs on Java 11 and later. */
const version = '7.25.0'
const artifact = 'openapi-generator-cli'

/** openapi-generator's Go client. */
const goClient = needing(['java', 'mvn', 'go'], (world) => {
  generate(world, ['-g', 'go'])
  mkdirSync(join(world.folder, 'turn'))
  copyFileSync(join(import.meta.dirname, 'go/generated.go'), join(world.folder, 'turn/main.go'))
  run(world, 'go', ['run', './turn'], { GOFLAGS: '-mod=mod' })
})

/**
 * openapi-generator's Java client, with a library whose generated code compiles: not every library's does
 * (specs/decisions/0107-documents-for-generators.md).
 */
const javaClient = needing(['java', 'mvn', 'javac'], (world) => {
  const left = ['apiTests', 'modelTests', 'apiDocs', 'modelDocs'].map((name) => `${name}=false`)
  const properties = ['--global-property', ['models', 'apis', 'supportingFiles', ...left].join(',')]
  // this library reads a stream as one text, whatever its type is, and makes an empty class of a text or a list
  const texts = ['--schema-mappings', 'SessionStreamEventText=Object,TurnInput=Object']
  generate(world, ['-g', 'java', '--library', 'apache-httpclient', ...texts, ...properties])
  run(world, 'mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'])
  const program = 'Generated.java'
  copyFileSync(join(import.meta.dirname, 'java', program), join(world.folder, program))
  const sources = readdirSync(join(world.folder, 'src/main/java'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.java'))
    .map((path) => join('src/main/java', path))
  run(world, 'javac', ['-proc:none', '-nowarn', '-d', 'classes', '-cp', 'lib/*', ...sources, program])
  run(world, 'java', ['-cp', 'classes:lib/*', 'Generated'])
})

/** openapi-generator's client for TypeScript with `fetch`. */
const typeScriptClient = needing(['java', 'mvn'], (world) => {
  // the types of Node, for the program
  installPackages(world, ['@types/node@22.20.5'])
  generate(world, ['-g', 'typescript-fetch', '--additional-properties', 'importFileExtension=.js'], 'client')
  runTypeScript(world, 'typescript-fetch.ts')
})

/** Pinned: raise a version here to try a new one. */
const oapiCodegen = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'

/** oapi-codegen's client for Go, at its defaults. Its 200,000 lines compile in 40 s. */
const oapiClient = needing(['go'], (world) => {
  mkdirSync(join(world.folder, 'client'))
  writeFileSync(join(world.folder, 'go.mod'), 'module clients\n\ngo 1.24\n')
  const into = ['-generate', 'types,client', '-package', 'client', '-o', 'client/client.go']
  run(world, 'go', ['run', oapiCodegen, ...into, world.document])
  copyFileSync(join(import.meta.dirname, 'go/oapi.go'), join(world.folder, 'main.go'))
  run(world, 'go', ['mod', 'tidy'])
  run(world, 'go', ['run', ...goFlags, '.'])
})

/** Checks of openapi-generator's clients and of oapi-codegen's, by name. */
export const openapiGeneratorClients: Readonly<Record<string, ClientCheck>> = {
  'openapi-generator-typescript-fetch': typeScriptClient,
  'oapi-codegen': oapiClient,
  'openapi-generator-go': goClient,
  'openapi-generator-java': javaClient,
}

const generate = (world: ClientWorld, args: readonly string[], into = '.'): void => {
  run(world, 'mvn', ['-q', '-B', 'dependency:get', `-Dartifact=org.openapitools:${artifact}:${version}`])
  const jar = join(homedir(), '.m2/repository/org/openapitools', artifact, version, `${artifact}-${version}.jar`)
  run(world, 'java', ['-jar', jar, 'generate', '-i', world.document, '-o', into, ...args])
}
