/** Looks at a running control plane as a browser would: `node .ci/look-at-plane.mjs http://127.0.0.1:7070/`. */
const [address = ""] = process.argv.slice(2);

async function get(path) {
  const answer = await fetch(new URL(path, address));
  if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}`);
  return answer;
}

const { workloads, agents } = await (await get("/v1/overview")).json();
const pods = workloads.filter(({ task }) => task === "pods");
const live = pods.filter(({ now, twin }) => now !== null && twin?.now != null);
if (live.length !== 4) throw new Error(`${live.length} of 4 workloads have live measurements beside their twin's`);
if (agents.some(({ stage }) => stage === "INITIALIZED")) throw new Error("an agent has not begun");
const page = await (await get("/")).text();
if (!page.includes("<script")) throw new Error("the dashboard's page is not served at /");
const metrics = await (await get("/metrics")).text();
if (!/^coxswain_/m.test(metrics)) throw new Error("/metrics has no metric of ours");
await get("/readyz");
console.log(`looked at ${address}: ${agents.map(({ workload, stage }) => `${workload} ${stage}`).join(", ")}`);
