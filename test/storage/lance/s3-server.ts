import { join } from 'node:path'
import { installPythonPackages } from '#scripts/services/python-packages.ts'
import { type Service, startService } from '#scripts/services/service.ts'

/** Starts a server that speaks the protocol of S3 and keeps its buckets in memory. */
export const startS3 = (): Promise<Service> => {
  const packages = installPythonPackages('s3-server', join(import.meta.dirname, 's3-server.txt'))
  return startService({
    name: 's3',
    command: 'python3',
    env: () => ({ ...process.env, PYTHONPATH: packages }),
    args: (port) => ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)],
    url: (port) => `http://127.0.0.1:${port}`,
  })
}
