import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../src/config.ts'

const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => problem.split(' ')[0] ?? '')
    throw error
  }
}

describe('readConfig', () => {
  it('defaults to loopback, SQLite and the simulated provider on demand', () => {
    expect(readConfig({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      dataDir: './data',
      mongodbUrl: null,
      vectorSearchMinChunks: 20_000,
      lancedb: null,
      redisUrl: null,
      redisAccess: { sentinel: {}, tls: {} },
      nodeId: null,
      peerHost: null,
      peerPort: 0,
      peerAddress: null,
      runs: {
        perProject: 100,
        perTenant: 20,
        ceilings: { maxSteps: null, maxTokens: null, maxCostUsd: null, maxDurationS: null },
      },
      bootstrap: { secretKey: null, ownerEmail: null, ownerPassword: null },
      masterKey: null,
      previousMasterKeys: [],
      providers: {},
      storeWaitMs: Number.POSITIVE_INFINITY,
      shutdownGraceMs: 130_000,
      chatBodyBytes: 8 * 1024 * 1024,
      streamCommitMs: 1000,
      modelWaits: { firstByteTimeoutMs: 600_000, idleTimeoutMs: 120_000, totalTimeoutMs: 3_600_000 },
      simulatedProvider: 'auto',
      allowedPrivateHosts: [],
      allowedContentHosts: [],
      publicUrl: null,
      trustedProxies: null,
      chromiumPath: null,
      crawler: { contact: null, atOnce: 2, delayMs: 200 },
      browserJobs: null,
      browserJobMemoryBytes: 1_073_741_824,
      indexMemoryBytes: 402_653_184,
      embedder: 'local',
      embedderPath: null,
      sharedCorpus: null,
      searchEngines: [],
      maxHeadBytes: null,
      logLevel: 'info',
      otelEndpoint: null,
    })
  })

  it('reads every variable', () => {
    const masterKey = Buffer.alloc(32, 7)
    const config = readConfig({
      PORT: '0',
      HOST: '0.0.0.0',
      DATA_DIR: '/var/lib/troupe',
      MONGODB_URL: 'mongodb://db:27017/troupe',
      MONGODB_VECTOR_SEARCH_MIN_CHUNKS: '0',
      LANCEDB_URI: '/var/lib/vectors',
      LANCEDB_MIN_CHUNKS: '500',
      REDIS_URL: 'redis://cache:6379',
      NODE_ID: 'node-1',
      PEER_HOST: '10.0.0.7',
      PEER_PORT: '7946',
      PEER_ADDRESS: 'node-1.example:7946',
      RUNS_PER_PROJECT: '50',
      RUNS_PER_TENANT: '5',
      RUN_MAX_STEPS: '30',
      RUN_MAX_TOKENS: '100000',
      RUN_MAX_COST_USD: '2.50',
      RUN_MAX_DURATION_S: '3600',
      BOOTSTRAP_SECRET_KEY: `csk_${'a'.repeat(32)}`,
      BOOTSTRAP_OWNER_EMAIL: 'Ada@Example.com',
      BOOTSTRAP_OWNER_PASSWORD: 'correct horse battery',
      MASTER_KEY: masterKey.toString('base64'),
      MASTER_KEY_PREVIOUS: `${Buffer.alloc(32, 8).toString('base64')}, ${Buffer.alloc(32, 9).toString('base64')}`,
      OPENAI_API_KEY: 'sk-1',
      OPENAI_BASE_URL: 'http://127.0.0.1:9000/v1/',
      ANTHROPIC_API_KEY: 'sk-2',
      GOOGLE_API_KEY: 'g-3',
      GOOGLE_BASE_URL: 'https://models.example.com',
      GROQ_API_KEY: 'gsk-4',
      XAI_API_KEY: 'xai-5',
      ELEVENLABS_BASE_URL: 'https://voice.example.com',
      SIMULATED_PROVIDER: 'off',
      ALLOWED_PRIVATE_HOSTS: 'localhost:9000, 10.0.0.5,[::1]:80, ::1',
      ALLOWED_PRIVATE_CONTENT_HOSTS: '10.0.0.6',
      PUBLIC_URL: 'https://troupe.example.com/',
      TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,2001:db8::/32',
      CHROMIUM_PATH: '/usr/bin/chromium',
      BROWSER_JOBS: '3',
      BROWSER_JOB_MEMORY_MB: '512',
      INDEX_MEMORY_MB: '64',
      EMBEDDER: 'openai/text-embedding-3-small',
      EMBEDDER_PATH: '/models/small',
      WEB_SHARED_PROJECT: 'prj_shared',
      WEB_CONTACT: 'crawls@example.com',
      WEB_HOST_REQUESTS: '4',
      WEB_HOST_DELAY_MS: '0',
      WEB_SEARCH_ENGINES:
        '[{"name":"searx","shape":"searxng","url":"http://searx/?q={query}","headers":{"X-Key":"k"}}]',
      UWS_HTTP_MAX_HEADERS_SIZE: '8192',
      LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318',
      SHUTDOWN_GRACE_S: '45',
      MAX_CHAT_BODY_MB: '20',
      STREAM_COMMIT_MS: '25',
      MODEL_FIRST_BYTE_TIMEOUT_S: '900',
      MODEL_IDLE_TIMEOUT_S: '30',
      MODEL_TOTAL_TIMEOUT_S: '7200',
      MONGODB_START_WAIT_S: '90',
    })
    expect(config).toEqual({
      port: 0,
      host: '0.0.0.0',
      dataDir: '/var/lib/troupe',
      mongodbUrl: 'mongodb://db:27017/troupe',
      vectorSearchMinChunks: 0,
      lancedb: { uri: '/var/lib/vectors', min: 500 },
      redisUrl: 'redis://cache:6379',
      redisAccess: { sentinel: {}, tls: {} },
      nodeId: 'node-1',
      peerHost: '10.0.0.7',
      peerPort: 7946,
      peerAddress: 'node-1.example:7946',
      runs: {
        perProject: 50,
        perTenant: 5,
        ceilings: { maxSteps: 30, maxTokens: 100_000, maxCostUsd: '2.50', maxDurationS: 3600 },
      },
      bootstrap: {
        secretKey: `csk_${'a'.repeat(32)}`,
        ownerEmail: 'ada@example.com',
        ownerPassword: 'correct horse battery',
      },
      masterKey,
      previousMasterKeys: [Buffer.alloc(32, 8), Buffer.alloc(32, 9)],
      providers: {
        openai: { apiKey: 'sk-1', baseUrl: 'http://127.0.0.1:9000/v1' },
        anthropic: { apiKey: 'sk-2' },
        google: { apiKey: 'g-3', baseUrl: 'https://models.example.com' },
        groq: { apiKey: 'gsk-4' },
        xai: { apiKey: 'xai-5' },
      },
      storeWaitMs: 90_000,
      shutdownGraceMs: 45_000,
      chatBodyBytes: 20 * 1024 * 1024,
      streamCommitMs: 25,
      modelWaits: { firstByteTimeoutMs: 900_000, idleTimeoutMs: 30_000, totalTimeoutMs: 7_200_000 },
      simulatedProvider: 'off',
      allowedPrivateHosts: ['localhost:9000', '10.0.0.5', '[::1]:80', '::1'],
      allowedContentHosts: ['10.0.0.6'],
      publicUrl: 'https://troupe.example.com',
      trustedProxies: { networks: ['10.0.0.0/8', '192.0.2.7/32', '2001:db8::/32'] },
      chromiumPath: '/usr/bin/chromium',
      crawler: { contact: 'crawls@example.com', atOnce: 4, delayMs: 0 },
      browserJobs: 3,
      browserJobMemoryBytes: 536_870_912,
      indexMemoryBytes: 67_108_864,
      embedder: 'openai/text-embedding-3-small',
      embedderPath: '/models/small',
      sharedCorpus: 'prj_shared',
      searchEngines: [
        {
          ...{ name: 'searx', url: 'http://searx/?q={query}', headers: { 'x-key': 'k' }, max: 20 },
          paths: { results: 'results', title: 'title', url: 'url', snippet: 'content', published: 'publishedDate' },
        },
      ],
      maxHeadBytes: 8192,
      logLevel: 'debug',
      otelEndpoint: 'http://otel:4318',
    })
  })

  it.each([
    ['PORT', '65536'],
    ['WEB_SEARCH_ENGINES', '[{"name":"a"}]'],
    ['PORT', '80a'],
    ['EMBEDDER', '/models/small'],
    ['EMBEDDER', 'two words'],
    ['PORT', '-1'],
    ['HOST', 'two words'],
    ['MONGODB_URL', 'http://db'],
    ['MONGODB_URL', 'mongodb://user:p@ss@db/troupe'],
    ['MONGODB_URL', 'mongodb://user:p/ss@db/troupe'],
    ['MONGODB_URL', 'mongodb://user:12/ss@db/troupe'],
    ['MONGODB_URL', 'mongodb://user:p?ss@db/troupe'],
    ['MONGODB_URL', 'mongodb://user:p#ss@db/troupe'],
    ['REDIS_URL', 'mongodb://db'],
    ['REDIS_URL', 'redis://cache:6379'],
    ['NODE_ID', 'a/b'],
    ['PEER_HOST', '0.0.0.0'],
    ['PEER_HOST', 'http://node'],
    ['PEER_PORT', '70000'],
    ['PEER_ADDRESS', 'node-1'],
    ['PEER_ADDRESS', 'node-1:99999'],
    ['WEB_SHARED_PROJECT', 'my project'],
    ['WEB_CONTACT', 'me (at) example'],
    ['WEB_CONTACT', 'a\r\nX-Injected: 1'],
    ['WEB_HOST_REQUESTS', '0'],
    ['WEB_HOST_DELAY_MS', '-1'],
    ['STREAM_COMMIT_MS', '24'],
    ['STREAM_COMMIT_MS', '60001'],
    ['UWS_HTTP_MAX_HEADERS_SIZE', '0'],
    ['UWS_HTTP_MAX_HEADERS_SIZE', '16KB'],
    ['UWS_HTTP_MAX_HEADERS_SIZE', '-1'],
    ['UWS_HTTP_MAX_HEADERS_SIZE', '999999999'],
    ['RUNS_PER_PROJECT', '0'],
    ['RUNS_PER_TENANT', '501'],
    ['RUN_MAX_STEPS', '201'],
    ['RUN_MAX_TOKENS', '0'],
    ['RUN_MAX_COST_USD', '-1'],
    ['RUN_MAX_DURATION_S', '604801'],
    ['BOOTSTRAP_SECRET_KEY', `csk_${'a'.repeat(31)}`],
    ['BOOTSTRAP_SECRET_KEY', 'a'.repeat(40)],
    ['BOOTSTRAP_OWNER_EMAIL', 'nobody'],
    ['BOOTSTRAP_OWNER_PASSWORD', 'short'],
    ['MASTER_KEY', Buffer.alloc(31).toString('base64')],
    ['MASTER_KEY', `${Buffer.alloc(32).toString('base64')}!`],
    ['MASTER_KEY_PREVIOUS', 'swordfish'],
    ['MASTER_KEY_PREVIOUS', `${Buffer.alloc(32).toString('base64')},`],
    ['MASTER_KEY_PREVIOUS', `${Buffer.alloc(32).toString('base64')},${Buffer.alloc(31).toString('base64')}`],
    ['OPENAI_BASE_URL', 'localhost:9000'],
    ['ANTHROPIC_API_KEY', 'with space'],
    ['SIMULATED_PROVIDER', 'maybe'],
    ['ALLOWED_PRIVATE_HOSTS', 'http://localhost'],
    ['ALLOWED_PRIVATE_HOSTS', 'localhost:99999'],
    ['PUBLIC_URL', 'ftp://host'],
    ['PUBLIC_URL', 'https://host/?a=b'],
    ['PUBLIC_URL', 'https://user:word@host'],
    ['PUBLIC_URL', 'https://ho\nst'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://o\ttel'],
    ['TRUSTED_PROXIES', '0'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10/8'],
    ['TRUSTED_PROXIES', 'nginx'],
    ['LOG_LEVEL', 'loud'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'otel'],
  ])('refuses %s=%s and names the variable', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([name])
  })

  it.each([
    ['HTTPS://Troupe.Example:443//', 'https://troupe.example'],
    ['http://troupe.example:8080/base/', 'http://troupe.example:8080/base'],
    ['https://[::1]', 'https://[::1]'],
  ])('reads the public URL %s as browsers do', (text, url) => {
    expect(readConfig({ PUBLIC_URL: text }).publicUrl).toBe(url)
  })

  it('accepts a number of trusted proxies', () => {
    expect(readConfig({ TRUSTED_PROXIES: '2' }).trustedProxies).toEqual({ hops: 2 })
  })

  it('reports all invalid variables at once', () => {
    expect(problemsOf({ PORT: 'x', LOG_LEVEL: 'y', REDIS_URL: 'z' })).toEqual(['PORT', 'REDIS_URL', 'LOG_LEVEL'])
  })

  it('reveals no secret in its error message', () => {
    expect(() =>
      readConfig({ MASTER_KEY: 'swordfish', MASTER_KEY_PREVIOUS: 'turbot', BOOTSTRAP_OWNER_PASSWORD: 'tuna' }),
    ).toThrow(expect.not.objectContaining({ message: expect.stringMatching(/swordfish|turbot|tuna/) }))
  })

  it.each([
    'mongodb://user:p%40ss%2Fw%3Ard%3F@127.0.0.1:27017/troupe?authSource=admin&appName=a@b',
    'mongodb://a_1.example:27017,b-2:27018,[::1]:27019/troupe?replicaSet=rs0',
    'mongodb+srv://user:x@cluster0.abcde.example/',
    'mongodb://db',
  ])('accepts %s as a store', (url) => {
    expect(readConfig({ MONGODB_URL: url }).mongodbUrl).toBe(url)
  })

  it.each([
    'redis://:p%40ss@cache:6379/1',
    'rediss://user:x@cache',
    'redis://[::1]:6379?family=6',
    'redis+sentinel://user:x@one:26379,two/mymaster/2',
    'rediss+sentinel://one/mymaster?db=2',
    'redis+cluster://:x@one,[::1]:6379',
    'rediss+cluster://one.example',
  ])('accepts %s in addition to a store', (url) => {
    expect(readConfig({ MONGODB_URL: 'mongodb://db', REDIS_URL: url }).redisUrl).toBe(url)
  })

  it.each([
    ['redis+sentinel://one,two', 'with the name of their master'],
    ['redis://one,two', 'redis+cluster://host1,host2 a cluster'],
    ['redis+cluster://one/2', 'only the database 0'],
    ['redis://one/two', 'the number of a database'],
    ['redis+sentinel://one/mymaster/2/3', 'the number of a database'],
    ['redis+other://one', 'a redis:// URL of a server'],
    ['redis://one:70000', 'a redis:// URL of a server'],
    ['redis://user:%zz@one', 'a redis:// URL of a server'],
    ['redis://user:12?tuna@one', 'a redis:// URL of a server'],
  ])('refuses %s as Redis with the remedy', (url, remedy) => {
    expect(() => readConfig({ MONGODB_URL: 'mongodb://db', REDIS_URL: url })).toThrow(remedy)
  })

  it.each([
    [{ REDIS_URL: 'redis://one', REDIS_SENTINEL_PASSWORD: 'tuna' }, 'REDIS_SENTINEL_PASSWORD has an effect only if'],
    [{ REDIS_URL: 'redis://one', REDIS_TLS_SERVER_NAME: 'name' }, 'REDIS_TLS_… have an effect only if'],
    [{ REDIS_URL: 'rediss://one', REDIS_TLS_SERVER_NAME: 'a b' }, 'REDIS_TLS_SERVER_NAME must be'],
    [{ REDIS_URL: 'rediss://one', REDIS_TLS_CA_PATH: 'package.json' }, 'REDIS_TLS_CA_PATH must be'],
    [{ REDIS_URL: 'rediss://one', REDIS_TLS_KEY_PATH: 'nowhere' }, 'REDIS_TLS_KEY_PATH must be'],
  ])('names the variable of Redis that is wrong or has no effect: %j', (env, problem) => {
    const refused = () => readConfig({ MONGODB_URL: 'mongodb://db', ...env })
    expect(refused).toThrow(problem)
    expect(refused).toThrow(expect.not.objectContaining({ message: expect.stringContaining('tuna') }))
  })

  it('reveals no password of an invalid URL', () => {
    const urls = { MONGODB_URL: 'mongodb://user:tuna/shark@db', REDIS_URL: 'redis://:tuna/shark@cache' }
    expect(() => readConfig(urls)).toThrow(
      expect.not.objectContaining({ message: expect.stringMatching(/tuna|shark/) }),
    )
  })

  it('treats an empty variable as not set', () => {
    expect(readConfig({ MONGODB_URL: '', PORT: ' ', OPENAI_API_KEY: '' })).toEqual(readConfig({}))
  })

  it('accepts an OpenAI-compatible server without a key', () => {
    expect(readConfig({ OPENAI_BASE_URL: 'http://127.0.0.1:9000/v1' }).providers).toEqual({
      openai: { apiKey: '', baseUrl: 'http://127.0.0.1:9000/v1' },
    })
  })

  it('takes the key of a cloud only with the address of the customer', () => {
    const url = 'https://shop.openai.azure.com'
    expect(() => readConfig({ AZURE_OPENAI_API_KEY: 'k' })).toThrow('AZURE_OPENAI_BASE_URL must be set beside')
    expect(readConfig({ AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_BASE_URL: url }).providers).toMatchObject({
      'azure-openai': { apiKey: 'k', baseUrl: url },
    })
  })

  it('returns a frozen configuration', () => {
    const config = readConfig({ OPENAI_API_KEY: 'sk', ALLOWED_PRIVATE_HOSTS: 'a' })
    for (const part of [
      config,
      config.providers,
      config.providers.openai,
      config.bootstrap,
      config.allowedPrivateHosts,
    ])
      expect(Object.isFrozen(part)).toBe(true)
  })
})

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-secrets-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it('is read from the path in <name>_FILE, without its final line break', () => {
    const config = readConfig({
      MONGODB_URL_FILE: file('url', 'mongodb://a:b@db/troupe\n'),
      OPENAI_API_KEY_FILE: file('key', 'sk-1\n'),
    })
    expect(config.mongodbUrl).toBe('mongodb://a:b@db/troupe')
    expect(config.providers.openai?.apiKey).toBe('sk-1')
  })

  it('is refused if the file is missing or empty, or if the variable is set too', () => {
    expect(() => readConfig({ MASTER_KEY_FILE: join(folder, 'none') })).toThrow(
      'MASTER_KEY_FILE must be the path of a file',
    )
    expect(() => readConfig({ MONGODB_URL_FILE: file('empty', '\n') }), 'data would go to SQLite').toThrow(
      'MONGODB_URL_FILE names a file that is empty',
    )
    const both = { REDIS_URL: 'redis://a', REDIS_URL_FILE: file('redis', 'redis://b') }
    expect(() => readConfig(both)).toThrow('REDIS_URL and REDIS_URL_FILE are both set')
  })

  it('is supported for secrets only', () => {
    expect(readConfig({ PORT_FILE: file('port', '99') }).port).toBe(8080)
  })
})
