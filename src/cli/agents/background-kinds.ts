/** What threads beside the loop can do: train an agent's policy, and work on what its task remembers. */
import { agentTrainingKinds } from "../../control/lifecycle/index.ts";
import { type BootstrapWork, FUNCTION_BOOTSTRAP, functionBootstrap } from "../../control/tasks/functions/index.ts";
import { PODS_ADVICE, type PodsAdviceWork, podsAdvice } from "../../control/tasks/pods/index.ts";
import type { JobKinds } from "../../learn/tensor/index.ts";

export function backgroundKinds(): JobKinds {
  const { tasks, models } = agentTrainingKinds();
  return {
    tasks: {
      ...tasks,
      [PODS_ADVICE]: (work) => podsAdvice(work as PodsAdviceWork),
      [FUNCTION_BOOTSTRAP]: (work, { kernels }) => functionBootstrap(work as BootstrapWork, { kernels }),
    },
    models,
  };
}
