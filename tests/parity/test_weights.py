"""State dictionaries of Python are read, and Python reads ours."""

import unittest

import fabric
import grid
import torch
import trace_file
import worker
from fabric import make_model
from precbench_fabric.models import MODELS
from support import DATA, ParityTest

SMALL = grid.merge({"steps": 6, "dataset": {"limit_train": 1000, "limit_test": 400}}, DATA)
PLACES = [("32-true", "cnn"), ("bf16-true", "cnn"), ("16-mixed", "mlp"), ("64-true", "mlp")]


class Weights(ParityTest):
    def test_python_reads_ours_and_gets_the_same_accuracy(self):
        for mode, model in PLACES:
            with self.subTest(f"{mode} {model}"):
                cell = grid.cell(mode, model, "sgd", 96, 42, SMALL)
                result = self.train_worker(cell, save_weights=self.path("ours.pt"))
                state = torch.load(self.path("ours.pt"), weights_only=True)
                module = MODELS[model](1, (28, 28), 10, {})
                module.load_state_dict(state)  # strict: raises for a name or a shape that differs
                accuracy = fabric.accuracy_of(module, self.job(cell, {}))
                self.assertEqual(accuracy, result["run"]["test_accuracy"])
                self.assertGreater(accuracy, 0.15, "an untrained model would agree as well")

    def test_ours_holds_the_dtype_of_the_mode(self):
        cell = grid.cell("bf16-true", "mlp", "sgd", 96, 42, SMALL)
        self.train_worker(cell, save_weights=self.path("ours.pt"))
        state = torch.load(self.path("ours.pt"), weights_only=True)
        self.assertEqual({tensor.dtype for tensor in state.values()}, {torch.bfloat16})

    def test_a_state_dictionary_of_python_starts_both_sides_alike(self):
        for mode, model in PLACES:
            with self.subTest(f"{mode} {model}"):
                torch.manual_seed(7)
                torch.save(MODELS[model](1, (28, 28), 10, {}).state_dict(), self.path("python.pt"))
                cell = grid.cell(mode, model, "adamw", 96, 42, SMALL)
                self.train_reference(cell, self.path("fabric"), init_weights=self.path("python.pt"))
                self.train_worker(cell, init_weights=self.path("python.pt"), dump_trace=self.path("ours"))
                self.assertTrue(trace_file.compare(self.path("ours"), self.path("fabric")).identical)
                self.train_worker(cell, dump_trace=self.path("drawn"))
                self.assertEqual(trace_file.compare(self.path("ours"), self.path("drawn")).first_difference, 0)

    def test_the_larger_models_draw_pythons_weights(self):
        still = {"steps": 1, "optimizer": {"name": "sgd", "lr": 0.0, "momentum": 0.0, "weight_decay": 0.0, "nesterov": False}}
        for cell in grid.workloads(DATA, modes=["32-true"]):
            with self.subTest(cell["name"]):
                self.train_worker(cell, save_weights=self.path("ours.pt"), **still)
                torch.manual_seed(42)
                module = make_model(cell["job"]["train"])
                drawn = {name: parameter.clone() for name, parameter in module.named_parameters()}
                module.load_state_dict(torch.load(self.path("ours.pt"), weights_only=True))  # strict
                for name, parameter in module.named_parameters():
                    self.assertTrue(torch.equal(parameter, drawn[name]), name)

    def test_what_ours_saved_starts_ours_again(self):
        cell = grid.cell("32-true", "mlp", "sgd", 96, 42, SMALL)
        first = self.train_worker(cell, save_weights=self.path("a.pt"))
        frozen = {"init_weights": self.path("a.pt"), "optimizer": {"lr": 0.0, "momentum": 0.0}}
        again = self.train_worker(cell, **frozen)
        self.assertEqual(first["run"]["test_accuracy"], again["run"]["test_accuracy"])

    def test_the_weights_of_another_model_are_refused_by_name(self):
        torch.save(MODELS["mlp"](1, (28, 28), 10, {}).state_dict(), self.path("mlp.pt"))
        cell = grid.cell("32-true", "cnn", "sgd", 96, 42, SMALL)
        with self.assertRaisesRegex(worker.WorkerFailed, "missing: conv1.weight") as failure:
            self.train_worker(cell, init_weights=self.path("mlp.pt"))
        self.assertEqual(failure.exception.kind, "input")


if __name__ == "__main__":
    unittest.main()
