// Uses the client that @hey-api/openapi-ts generates: what is typed otherwise does not compile.
import { client } from "./generated/client.gen";
import { ask, createCampaign, tell, tellMany } from "./generated/sdk.gen";
import type { Campaign, Finished, Lease, Told, ToldLine, Wait } from "./generated/types.gen";

declare const process: { env: Record<string, string | undefined> };

client.setConfig({ baseUrl: process.env.AFFINITY_URL, auth: () => process.env.AFFINITY_KEY });

function given<T>(reply: { data?: T; error?: unknown }): T {
  if (reply.data === undefined) throw new Error(JSON.stringify(reply.error));
  return reply.data;
}

const declaration = { groups_are: "made-up groups", responsible: "a test", purpose: "a test" };

async function main(): Promise<void> {
  const campaign: Campaign = given(
    await createCampaign({
      body: {
        name: "generated",
        arms: ["a", "b"],
        policy: { name: "elimination", schedule: { name: "published", offset: -2.0 } },
        horizon: 1000,
        declaration,
      },
    }),
  );
  const path = { campaign: campaign.id };

  async function leased(): Promise<Lease> {
    const found: Lease | Wait | Finished = given(await ask({ path, body: { count: 1 } }));
    if (found.status !== "leased") throw new Error(found.status);
    return found;
  }

  const first = await leased();
  const told: Told = given(
    await tell({
        path,
        body: { lease: first.lease, answers: [{ slot: first.runs[0][0] as number, score: 0.5 }] },
      }),
  );
  const second = await leased();
  const line: ToldLine = given(
    await tellMany({
      path,
      body: { lease: second.lease, answers: [{ slot: second.runs[0][0] as number, score: 0.25 }] },
    }),
  );
  const third = await leased();
  const arm = third.arms[(third.runs[0][0] as number) % third.arms.length];
  given(
    await tell({
      path,
      body: { lease: third.lease, totals: [{ arm, scores: [{ score: 0.75, count: 1 }] }] },
    }),
  );
  const stars: Campaign = given(
    await createCampaign({
      body: {
        name: "planned",
        arms: ["a", "b"],
        plan: { groups: 2, horizon: 1000, policy: { name: "elimination" }, lowest: 1, highest: 5 },
        declaration,
      },
    }),
  );
  if (stars.lowest !== 1 || stars.highest !== 5) throw new Error(JSON.stringify(stars));
  console.log(JSON.stringify({ status: first.status, counted: told.counted, line: line.status }));
}

main();
