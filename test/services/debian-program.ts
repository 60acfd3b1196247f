/**
 * A server's program out of Debian's package for a test, and free loopback ports for it. An installed one is used as it is;
 * otherwise the package is downloaded and unpacked, without being installed (which would start it as a service), into a cache folder.
 */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface DebianProgram {
  readonly name: string;
  /** The package, which is its folder in the cache too. */
  readonly from: string;
  /** Where the package has it, such as `usr/sbin`. */
  readonly folder: string;
}

export async function findProgram({ name, from, folder }: DebianProgram): Promise<string> {
  for (const place of [...(process.env.PATH ?? "").split(":"), `/${folder}`]) {
    if (existsSync(join(place, name))) return join(place, name);
  }
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "coxswain", from);
  const program = join(cache, folder, name);
  if (!existsSync(program)) await unpackPackage(cache, { name, from });
  return program;
}

async function unpackPackage(cache: string, { name, from }: Pick<DebianProgram, "name" | "from">): Promise<void> {
  const work = `${cache}.${process.pid}`;
  try {
    await mkdir(join(work, "root"), { recursive: true });
    // Without a list of packages the download finds nothing; updating it needs root, and then it is harmless.
    await run("apt-get", ["download", from], { cwd: work }).catch(async () => {
      await run("apt-get", ["update"]);
      await run("apt-get", ["download", from], { cwd: work });
    });
    const [file] = (await readdir(work)).filter((found) => found.endsWith(".deb"));
    if (file === undefined) throw new Error("apt-get downloaded nothing");
    await run("dpkg", ["-x", file, join(work, "root")], { cwd: work });
    await rm(cache, { recursive: true, force: true });
    await rename(join(work, "root"), cache);
  } catch (cause) {
    throw new Error(
      `${name} is needed and could not be fetched with apt-get and dpkg; install the package '${from}' so that it is in the PATH`,
      { cause },
    );
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Different ones. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("no port is free");
    return address.port;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
