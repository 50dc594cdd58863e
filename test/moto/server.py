"""Moto, an emulator of AWS, on a free port of 127.0.0.1. Prints its URL and ends when its standard input does.

Moto has EventBridge Scheduler, but its CloudFormation makes no schedule groups and gives up at the first reference to
one. So it is told here how it makes one, with its own EventBridge Scheduler.
"""

import sys

from moto.core.common_models import CloudFormationModel
from moto.scheduler.models import scheduler_backends
from moto.server import ThreadedMotoServer


class ScheduleGroup(CloudFormationModel):
    # Moto reads the service of a model out of its module's name.
    __module__ = "moto.scheduler"

    def __init__(self, name, arn):
        self.name = name
        self.arn = arn

    @property
    def physical_resource_id(self):
        return self.name

    @staticmethod
    def cloudformation_type():
        return "AWS::Scheduler::ScheduleGroup"

    @staticmethod
    def cloudformation_name_type():
        return "Name"

    @classmethod
    def has_cfn_attr(cls, attribute):
        return attribute == "Arn"

    def get_cfn_attribute(self, attribute):
        return {"Arn": self.arn}[attribute]

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_):
        group = scheduler_backends[account_id][region_name].create_schedule_group(resource_name, tags=[])
        return cls(group.name, group.arn)

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name):
        scheduler_backends[account_id][region_name].delete_schedule_group(resource_name)


server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://{}:{}".format(*server.get_host_and_port()), flush=True)
sys.stdin.read()
